import { randomUUID } from "node:crypto";
import { endpointOf, type Rig } from "../rig.ts";
import { problemsOf, type Row } from "../row.ts";
import { answersNow, timeUntil } from "../under-load.ts";

const servers = 200;
const atATime = 10;

/** Copies a deployed server: the same layers under other names. Builds would take long and test nothing here. */
async function copyServer(rig: Rig, from: string): Promise<string[]> {
  const names = Array.from({ length: servers }, (_, index) => `chaos-many-${index}`);
  const { rows } = await rig.database.query(
    `SELECT project.id AS project, branch.id AS branch, deployment.id AS deployment, deployment.build_id AS build
       FROM route JOIN project ON project.id = route.project_id JOIN branch ON branch.id = route.branch_id
       JOIN deployment ON deployment.id = route.deployment_id WHERE route.label = $1`,
    [from],
  );
  const original: Record<string, string> = rows[0];
  for (const name of names) {
    const ids = { project: randomUUID(), branch: randomUUID(), build: randomUUID(), deployment: randomUUID() };
    await copyRow(rig, "project", original.project, { id: ids.project, name });
    await copyRow(rig, "branch", original.branch, { id: ids.branch, project_id: ids.project });
    const of = { project_id: ids.project, branch_id: ids.branch };
    await copyRow(rig, "build", original.build, { id: ids.build, ...of });
    await copyRow(rig, "deployment", original.deployment, {
      id: ids.deployment,
      build_id: ids.build,
      slug: name,
      ...of,
    });
    await rig.database.query(
      "INSERT INTO route (label, project_id, branch_id, deployment_id, sequence) VALUES ($1, $2, $3, $4, 1)",
      [name, ids.project, ids.branch, ids.deployment],
    );
  }
  return names;
}

/** Inserts a copy of a row with other values in some columns. */
async function copyRow(rig: Rig, table: string, id: string | undefined, change: Record<string, string>): Promise<void> {
  await rig.database.query(
    `INSERT INTO "${table}" SELECT (jsonb_populate_record(original, $2::jsonb)).* FROM "${table}" original WHERE id = $1`,
    [id, JSON.stringify(change)],
  );
}

/** Calls each of many servers once: each gets its place in its turn. */
export async function manyServers(rig: Rig): Promise<Row> {
  const names = await copyServer(rig, rig.servers[0] ?? "");
  await timeUntil("the last route", () => answersNow(rig, names.at(-1) ?? ""));
  const waiting = [...names];
  const durations: number[] = [];
  const refusals = new Map<number | string, number>();
  const callOne = async (name: string) => {
    const begun = performance.now();
    const answer = await answersNow(rig, name).then(
      (ok) => (ok ? "ok" : "refused"),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (answer === "ok") durations.push(performance.now() - begun);
    else refusals.set(answer, (refusals.get(answer) ?? 0) + 1);
  };
  const caller = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await callOne(name);
  };
  await Promise.all(Array.from({ length: atATime }, caller));
  await rig.database.query("DELETE FROM project WHERE name LIKE 'chaos-many-%'");
  const failed = servers - durations.length;
  return {
    scenario: `${servers} servers called once`,
    times: servers,
    calls: servers,
    failed,
    lost: 0,
    recoveryMs: durations,
    problems: problemsOf({ "none is refused": failed === 0 }),
    detail: `${atATime} calls at a time at ${endpointOf(rig, "…")}; recovery: times of first calls${[...refusals].map(([what, count]) => `; ${count} × ${what}`).join("")}`,
  };
}
