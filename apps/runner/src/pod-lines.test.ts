import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "@towpath/core/ids";
import { openTestDatabase } from "@towpath/db/testing";
import { type ServerLogRow, writeServerLogs } from "@towpath/logs";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clusterSettings, startClusterApi } from "./testing/cluster-api.ts";
import { seedDeployment } from "./testing/seed-deployment.ts";

// A runner that takes a pod over from another one. The API server is a stand-in: tests/kubernetes has a real cluster.

const database = openTestDatabase();
let api: Awaited<ReturnType<typeof startClusterApi>>;
let directory = "";
let runner: ChildProcess | null = null;
beforeAll(async () => {
  directory = await shortDirectory();
  api = await startClusterApi();
});
afterAll(async () => {
  runner?.kill("SIGKILL");
  await api.close();
  await rm(directory, { recursive: true, force: true });
});

/** Starts the process. */
function startRunner(kubeconfig: string): void {
  const env = {
    PATH: process.env.PATH,
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
    DATABASE_URL: database.url,
    TOWPATH_DATA_DIR: directory,
    TOWPATH_RUN_DIR: directory,
    TOWPATH_SECRET: "x".repeat(32),
    TOWPATH_SERVER_URL: "http://localhost/{name}",
    TOWPATH_LOG_LEVEL: "silent",
    ...clusterSettings(kubeconfig),
  };
  const main = join(import.meta.dirname, "main.ts");
  runner = spawn(process.execPath, [main], { env, stdio: ["ignore", "inherit", "inherit"] });
}

test("RUN-5 RUN-8 a clock that is set back, lines left out by an earlier runner and a kubelet that begins cost no line of a pod", async () => {
  const { organizationId, projectId, deploymentId } = await seedDeployment(database.db);
  const instanceId = newId();
  const memo = { organizationId, projectId, deploymentId, memoryBytes: 2 ** 28, secrets: {} };
  const kubeconfig = await api.open(directory, instanceId, memo);
  const printed: string[] = [];
  const print = (secondsAgo: number) => {
    const time = Date.now() - 1000 * secondsAgo;
    const lines = ["a", "b", "c"].map((letter, at) => ({
      text: `line ${printed.length} ${letter}`,
      time: new Date(time + at),
    }));
    printed.push(...lines.map(({ text }) => text));
    api.print(lines);
    return lines.map(({ text: line, time }): ServerLogRow => {
      const ids = { projectId, deploymentId, instanceId };
      return { ...ids, time, stream: "stdout", level: "info", requestId: null, line };
    });
  };
  const [first, second] = [print(20), print(10)];
  await writeServerLogs(database.pool, [...first.slice(0, 1), ...second]);
  print(15);
  api.forgetPod();
  startRunner(kubeconfig);
  const stored = async () => {
    const sql = "SELECT line FROM server_log WHERE instance_id = $1 AND stream = 'stdout' ORDER BY line";
    const { rows } = await database.pool.query<{ line: string }>(sql, [instanceId]);
    return rows.map(({ line }) => line);
  };
  const soon = { timeout: 20_000, interval: 20 };
  await expect.poll(stored, soon).toEqual(printed);
  print(0);
  await expect.poll(stored, soon).toEqual(printed);
}, 30_000);
