import { join } from "node:path";
import type { openDatabase } from "@towpath/db";
import { createRunnerClient } from "@towpath/runner-api";

type Pool = ReturnType<typeof openDatabase>["pool"];

/** The runner of an instance on this machine. */
const runnerOf = (dataDirectory: string) =>
  createRunnerClient({ kind: "unix", path: join(dataDirectory, "run", "runner.sock") }, { timeoutMs: 30_000 });

/** Has lists of these servers answered while they sleep, and stops them. */
export async function putToSleep(dataDirectory: string, pool: Pool, names: readonly string[]): Promise<void> {
  await pool.query("UPDATE project SET sleeping_lists = 'stable' WHERE name = ANY ($1)", [names]);
  const { rows } = await pool.query<{ id: string }>(
    "SELECT deployment_id AS id FROM route JOIN project ON project.id = route.project_id WHERE name = ANY ($1)",
    [names],
  );
  const runner = runnerOf(dataDirectory);
  await Promise.all(rows.map(({ id }) => runner.stop(id)));
  await runner.close();
}

/** Names of the projects whose servers have a process. */
export async function runningServers(dataDirectory: string, pool: Pool): Promise<string[]> {
  const runner = runnerOf(dataDirectory);
  const instances = await runner.list();
  await runner.close();
  const { rows } = await pool.query<{ name: string }>(
    `SELECT project.name FROM deployment JOIN project ON project.id = deployment.project_id
     WHERE deployment.id = ANY ($1) ORDER BY project.name`,
    [instances.map(({ deploymentId }) => deploymentId)],
  );
  return rows.map(({ name }) => name);
}
