import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { newId } from "@towpath/core/ids";
import { seedSecrets } from "@towpath/core/testing";
import { hostIsolation, instance, secret } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { createRunnerClient, type RunnerClient } from "@towpath/runner-api";
import { runnerContract } from "@towpath/runner-api/contract";
import { shortDirectory, tinyServer } from "@towpath/runtime/testing";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { makeLayers } from "./testing/asgi-layers.ts";
import { seedDeployment } from "./testing/seed-deployment.ts";

const run = promisify(execFile);
let digest = { dependencies: "", code: "" };
const database = openTestDatabase();
let directory = "";
let address: { readonly kind: "unix"; readonly path: string };
let pythonVersion = "";
let runner: ChildProcess | null = null;

beforeAll(async () => {
  directory = await shortDirectory();
  await chmod(directory, 0o755);
  address = { kind: "unix", path: join(directory, "run/runner.sock") };
  ({ digest, pythonVersion } = await makeLayers(directory));
}, 120_000);
afterAll(async () => {
  if (runner?.exitCode === null) runner.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

function environment(change: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "/",
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
    DATABASE_URL: database.url,
    TOWPATH_DATA_DIR: directory,
    TOWPATH_RUN_DIR: join(directory, "run"),
    TOWPATH_SECRET: "x".repeat(32),
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
    TOWPATH_UV: "uv",
    ...change,
  };
}

const box = createSecretBox({ current: "x".repeat(32), previous: [] });
const main = new URL("./main.ts", import.meta.url).pathname;

async function startRunner(): Promise<void> {
  const child = spawn(process.execPath, [main], { env: environment(), stdio: ["ignore", "pipe", "inherit"] });
  runner = child;
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      lines.push(...chunk.toString("utf8").split("\n"));
      if (lines.some((line) => line.includes('"msg":"ready"'))) resolve();
    });
    child.once("exit", (code) => reject(new Error(`the runner ended with ${code}: ${lines.join("\n")}`)));
  });
}

async function stopRunner(): Promise<number | null> {
  const child = runner;
  if (child === null || child.exitCode !== null) return child?.exitCode ?? null;
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  return await ended;
}

const layers = () => ({ pythonVersion, ...digest });

runnerContract("the runner with sandboxes", async () => {
  const seed = async (entrypoint: string) =>
    (await seedDeployment(database.db, { entrypoint, layers: layers() })).deploymentId;
  const answering = [await seed("server.py:app"), await seed("server.py:app")] as const;
  const deployments = { answering, failing: await seed("missing.py:app"), silent: await seed("silent.py:app") };
  await startRunner();
  return { address, ...deployments, close: async () => void (await stopRunner()) };
});

/** Processes that were started ahead of time, of this test's runner or left by it. */
async function prewarmedInterpreters(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const line = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "") : "";
    if (!line.startsWith("/app/.venv/bin/python\0-m\0towpath_runner\0--prewarm-status")) continue;
    const mounts = await readFile(`/proc/${name}/mountinfo`, "utf8").catch(() => "");
    if (mounts.includes(directory)) found.push(Number(name));
  }
  return found;
}

describe("the process", () => {
  let client: RunnerClient;
  beforeAll(() => {
    client = createRunnerClient(address, { timeoutMs: 60_000 });
  });
  afterEach(async () => void (await stopRunner()));
  afterAll(() => client.close());

  test("RUN-3 RUN-4 the runner serves a deployment from its layers, with its environment, and is gone with its servers after SIGINT", async () => {
    const deployed = await seedDeployment(database.db, { entrypoint: "server.py:app", layers: layers() });
    await database.pool.query("DELETE FROM instance; DELETE FROM server_log");
    await startRunner();
    expect((await stat(address.path)).mode & 0o777).toBe(0o600);
    expect(await client.isolation()).toMatchObject({ trusted: true });
    // For the dashboard, which must know it without asking the runner.
    const reports = () => database.db.select().from(hostIsolation);
    await expect.poll(async () => (await reports()).length).toBe(1);
    expect((await reports())[0]).toMatchObject({ report: { trusted: true, exceptions: [], problems: [] } });

    const lease = await client.ensure(deployed.deploymentId);
    expect(lease).toMatchObject({ state: "started", leaseMs: 10_000 });
    const answer = JSON.parse((await tinyServer.get(lease.endpoint, "/mcp")) ?? "null");
    expect(answer.directory).toBe("/app/src");
    expect(answer.environment).toMatchObject({
      TOWPATH_CLOUD_URL: `http://localhost:8080/${deployed.name}`,
      TOWPATH_CLOUD_GIT_COMMIT_SHA: "c".repeat(40),
      TOWPATH_CLOUD_GIT_REPO: "someone/echo",
      TOWPATH_CLOUD_ENVIRONMENT: "production",
      HOME: "/home/towpath",
    });
    for (const name of ["DATABASE_URL", "TOWPATH_SECRET", "TOWPATH_DATA_DIR"])
      expect(answer.environment).not.toHaveProperty(name);
    await client.stop(deployed.deploymentId);
    expect(await client.list()).toEqual([]);
    await client.ensure(deployed.deploymentId);

    // Not 1, as of a process that can't stop in time.
    expect(await stopRunner()).toBe(0);
    const rows = await database.pool.query("SELECT state, end_reason FROM instance ORDER BY started_at");
    expect(rows.rows).toEqual([
      { state: "stopped", end_reason: "a stop was requested" },
      { state: "stopped", end_reason: "the runner is shutting down" },
    ]);
    const logged = await database.pool.query("SELECT stream, level, line FROM server_log WHERE line = 'imported'");
    expect(logged.rows).toEqual([
      { stream: "stderr", level: "info", line: "imported" },
      { stream: "stderr", level: "info", line: "imported" },
    ]);
  });

  test.runIf(isThorough)("RUN-8 KEY-2 after a kill -9 the next runner adopts all servers", async () => {
    const deployed = await seedDeployment(database.db, { entrypoint: "server.py:app", layers: layers() });
    await seedSecrets(database.db, box, deployed.projectId, { API_TOKEN: "long-enough-token" });
    await startRunner();
    const lease = await client.ensure(deployed.deploymentId);
    const stored = () => database.db.select().from(instance).where(eq(instance.deploymentId, deployed.deploymentId));
    // Whoever reads the database can't pass for the platform.
    const { secret: _, ...address } = lease.endpoint;
    await expect.poll(async () => (await stored())[0]?.endpoint).toEqual(address);
    const [before] = await stored();
    const killed = new Promise((resolve) => runner?.once("exit", resolve));
    runner?.kill("SIGKILL");
    await killed;

    expect(await tinyServer.get(lease.endpoint, "/print")).toContain("API_TOKEN");
    const decryptions = () =>
      database.pool.query("SELECT actor, subject, detail FROM audit_log WHERE action = 'secret.decrypt'");
    const start = { actor: "job:runner", subject: deployed.deploymentId };
    const detail = { reason: "start", runner: before?.runner, versions: { API_TOKEN: 1 } };
    expect((await decryptions()).rows).toEqual([{ ...start, detail }]);
    // The server still has, and prints, what it was started with.
    await database.db.delete(secret).where(eq(secret.projectId, deployed.projectId));
    const { deploymentId } = deployed;
    const row = { deploymentId, state: "ready", generation: before?.generation ?? null };
    const [lost, foreign] = [newId(), newId()];
    await database.db.insert(instance).values([
      { ...row, id: lost, runner: before?.runner ?? null },
      { ...row, id: foreign, runner: newId() },
    ]);
    await startRunner();
    expect(await client.ensure(deploymentId)).toMatchObject({ instanceId: lease.instanceId, state: "ready" });
    // The row follows a moment after the answer.
    const own = async () => (await stored()).find(({ id }) => id === lease.instanceId);
    await expect.poll(async () => (await own())?.state).toBe("ready");
    const after = Object.fromEntries((await stored()).map((each) => [each.id, each]));
    expect(after[lost]).toMatchObject({ state: "stopped", endReason: "It ended with the runner." });
    expect(after[foreign]).toMatchObject({ state: "ready" });
    const generation = (before?.generation ?? 0) + 1;
    // Measured again meanwhile.
    const memoryBytes = expect.toBeOneOf([null, expect.any(Number)]);
    expect(after[lease.instanceId]).toMatchObject({ ...before, generation, memoryBytes, state: "ready" });
    const printed = () => database.pool.query("SELECT line FROM server_log WHERE line LIKE 'token%'");
    await expect.poll(async () => (await printed()).rows).toEqual([{ line: "token [API_TOKEN]" }]);
    // The next runner started nothing.
    expect((await decryptions()).rows).toHaveLength(1);
    await client.stop(deploymentId);
    expect(await tinyServer.get(lease.endpoint)).toBeNull();
  });

  test.runIf(isThorough)("RUN-5 RUN-8 a kill -9 of the runner costs no line, and doubles none", async () => {
    const deployed = await seedDeployment(database.db, { entrypoint: "server.py:app", layers: layers() });
    await startRunner();
    const lease = await client.ensure(deployed.deploymentId);
    const stored = async () => {
      const { rows } = await database.pool.query<{ line: string }>(
        "SELECT line FROM server_log WHERE instance_id = $1 AND line LIKE 'token%' ORDER BY id",
        [lease.instanceId],
      );
      return rows.map(({ line }) => line);
    };
    const received = async () => new Set([...(await stored()), ...(await spooledLines())]).size;
    const printed: string[] = [];
    for (const afterMs of isThorough ? [null, 0, 60, 150, 230] : [null, 230]) {
      for (let at = 0; at < 5; at++) {
        expect(await tinyServer.get(lease.endpoint, `/print?${printed.length}`)).toContain("environment");
        printed.push(`token ${printed.length}`);
      }
      if (afterMs !== null) {
        await expect.poll(received, { interval: 5 }).toBe(printed.length);
        // At different moments of the writer's 0.2 s.
        await new Promise((resolve) => setTimeout(resolve, afterMs));
      }
      const killed = new Promise((resolve) => runner?.once("exit", resolve));
      runner?.kill("SIGKILL");
      await killed;
      await startRunner();
      await expect.poll(stored).toEqual(printed);
    }
    // Nothing comes twice.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await stored()).toEqual(printed);
  });

  test.runIf(isThorough)("RUN-8 after SIGTERM the servers run on, and the next runner has their log", async () => {
    const deployed = await seedDeployment(database.db, { entrypoint: "server.py:app", layers: layers() });
    await seedSecrets(database.db, box, deployed.projectId, { API_TOKEN: "long-enough-token" });
    await startRunner();
    const lease = await client.ensure(deployed.deploymentId);
    const ended = new Promise((resolve) => runner?.once("exit", resolve));
    runner?.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(await tinyServer.get(lease.endpoint, "/print")).toContain("API_TOKEN");
    await startRunner();
    expect(await client.ensure(deployed.deploymentId)).toMatchObject({ instanceId: lease.instanceId, state: "ready" });
    const logged = () =>
      database.pool.query("SELECT line FROM server_log WHERE instance_id = $1 AND stream <> 'platform'", [
        lease.instanceId,
      ]);
    await expect
      .poll(async () => (await logged()).rows.map(({ line }) => line))
      .toEqual(expect.arrayContaining(["imported", "token [API_TOKEN]"]));
    await stopRunner();
    expect(await tinyServer.get(lease.endpoint)).toBeNull();
  });

  test.runIf(isThorough)("RUN-3 RUN-8 a server starts prewarmed, and a killed runner leaves none waiting", async () => {
    const deployed = await seedDeployment(database.db, { entrypoint: "server.py:app", layers: layers() });
    const { deploymentId } = deployed;
    await seedSecrets(database.db, box, deployed.projectId, { API_TOKEN: "long-enough-token" });
    await database.pool.query("DELETE FROM instance");
    await startRunner();
    const ordinary = await client.ensure(deploymentId);
    const environmentOfServer = async (lease: typeof ordinary) =>
      JSON.parse((await tinyServer.get(lease.endpoint, "/print")) ?? "null").environment;
    const expected = await environmentOfServer(ordinary);
    await client.stop(deploymentId);
    const waiting = async () => (await client.prewarm()).ready;
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    // It knows nothing of the server.
    const [pid = 0] = await prewarmedInterpreters();
    expect(await readFile(`/proc/${pid}/environ`, "utf8")).not.toMatch(/API_TOKEN|TOWPATH_CLOUD/);
    expect(await readdir(`/proc/${pid}/root/app/src`)).toEqual([]);

    const lease = await client.ensure(deploymentId);
    expect(await client.prewarm()).toMatchObject({ hits: 1, misses: { none_ready: 1 } });
    expect(await environmentOfServer(lease)).toEqual(expected);
    const logged = () => database.pool.query("SELECT line FROM server_log WHERE instance_id = $1", [lease.instanceId]);
    const lines = async () => (await logged()).rows;
    await expect.poll(lines).toContainEqual({ line: "token [API_TOKEN]" });
    await expect.poll(lines).toContainEqual({ line: expect.stringContaining("imported ahead of time") });

    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    // That of the server and the one that waits; for root forks, each with its parent process, and whose forks they are.
    const [each, parent] = process.getuid?.() === 0 ? [2, 1] : [1, 0];
    const before = await prewarmedInterpreters();
    expect(before).toHaveLength(2 * each + parent);
    const killed = new Promise((resolve) => runner?.once("exit", resolve));
    runner?.kill("SIGKILL");
    await killed;
    await startRunner();
    expect(await client.ensure(deploymentId)).toMatchObject({ instanceId: lease.instanceId, state: "ready" });
    expect(await environmentOfServer(lease)).toEqual(expected);
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    const after = await prewarmedInterpreters();
    expect(after).toHaveLength(2 * (each + parent));
    expect(after.filter((pid) => before.includes(pid))).toHaveLength(each + parent);
    expect(await readdir(join(directory, "cache/code"))).toHaveLength(2 + parent);
    await client.stop(deploymentId);
    await expect.poll(() => readdir(join(directory, "cache/code"))).toHaveLength(1 + parent);
    await stopRunner();
    expect(await prewarmedInterpreters()).toEqual([]);
  });

  const endsOf = async (deploymentId: string) => {
    const sql = "SELECT state, end_reason FROM instance WHERE deployment_id = $1 ORDER BY started_at";
    return (await database.pool.query(sql, [deploymentId])).rows;
  };
  const untilLoading = (deploymentId: string) => {
    const sql = "SELECT FROM server_log WHERE deployment_id = $1 AND line = 'loading'";
    const lines = async () => (await database.pool.query(sql, [deploymentId])).rowCount;
    return expect.poll(lines, { interval: 50 }).toBeGreaterThan(0);
  };
  const killShim = async () => {
    const owner = await readFile(join(directory, "run/shim.sock.owner"), "utf8");
    process.kill(Number(owner.split("-")[0]), "SIGKILL");
  };
  const withShim = { state: "stopped", end_reason: expect.stringContaining("process of Towpath") };

  test.runIf(isThorough)(
    "RUN-6 RUN-8 servers that end with the shim have not crashed, and start again, also when the runner ends too",
    async () => {
      const { deploymentId } = await seedDeployment(database.db, { entrypoint: "server.py:app", layers: layers() });
      await startRunner();
      const first = await client.ensure(deploymentId);
      await killShim();
      await expect.poll(() => tinyServer.get(first.endpoint), { timeout: 10_000 }).toBeNull();
      const second = await client.ensure(deploymentId);
      expect(second.instanceId).not.toBe(first.instanceId);
      expect(await tinyServer.get(second.endpoint, "/mcp")).toContain("environment");
      await expect.poll(() => endsOf(deploymentId)).toMatchObject([withShim, { state: "ready", end_reason: null }]);
      expect(await client.list()).toMatchObject([{ failures: 0 }]);
      // With the runner: the next one starts what was in use, before anybody calls.
      const killed = new Promise((resolve) => runner?.once("exit", resolve));
      runner?.kill("SIGKILL");
      await Promise.all([killed, killShim()]);
      await startRunner();
      await expect.poll(() => client.list(), { timeout: 20_000 }).toMatchObject([{ deploymentId, state: "ready" }]);
    },
  );

  test.runIf(isThorough)("RUN-8 GW-13 a start whose shim is killed goes on for its callers in the next", async () => {
    const { deploymentId } = await seedDeployment(database.db, { entrypoint: "slow.py:app", layers: layers() });
    await startRunner();
    const lease = client.ensure(deploymentId);
    await untilLoading(deploymentId);
    await killShim();
    expect(await tinyServer.get((await lease).endpoint, "/mcp")).toContain("environment");
    await expect.poll(() => endsOf(deploymentId)).toMatchObject([{ state: "ready", end_reason: null }]);
  });

  test.runIf(isThorough)("RUN-6 a server that is stopped while it starts has not crashed", async () => {
    const { deploymentId } = await seedDeployment(database.db, { entrypoint: "slow.py:app", layers: layers() });
    await startRunner();
    const lease = expect(client.ensure(deploymentId)).rejects.toMatchObject({ waitHelps: true });
    await untilLoading(deploymentId);
    expect(await stopRunner()).toBe(0);
    await lease;
    expect(await endsOf(deploymentId)).toEqual([{ state: "stopped", end_reason: "the runner is shutting down" }]);
  });

  test("RUN-4 a secret that cannot be decrypted is an error, never an empty value; missing layers say what to do", async () => {
    const secretive = await seedDeployment(database.db, { entrypoint: "server.py:app", layers: layers() });
    await database.db.insert(secret).values({
      id: newId(),
      projectId: secretive.projectId,
      keyName: "API_TOKEN",
      environments: ["production"],
      ciphertext: `v2.${newId()}.n.c.t`,
    });
    const lost = await seedDeployment(database.db, { layers: { ...layers(), code: "f".repeat(64) } });
    await startRunner();
    await expect(client.ensure(secretive.deploymentId)).rejects.toMatchObject({
      code: "start_failed",
      message: "The variable API_TOKEN can't be decrypted. Set it again.",
    });
    await expect(client.ensure(lost.deploymentId)).rejects.toMatchObject({
      code: "layers_lost",
      message: expect.stringContaining("The result of its build is"),
    });
    await expect(run(process.execPath, [main], { env: environment() })).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining("Another runner already serves"),
    });
  });
});

test.runIf(isThorough)("all invalid settings are listed at once", async () => {
  const env = environment({ TOWPATH_SECRET: "short", TOWPATH_SERVER_URL: "http://x", TOWPATH_RUN_DIR: "relative" });
  await expect(run(process.execPath, [main], { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/TOWPATH_RUN_DIR[\s\S]*TOWPATH_SECRET[\s\S]*TOWPATH_SERVER_URL/),
  });
});

/** What servers have printed and the database may not have yet. */
async function spooledLines(): Promise<string[]> {
  const lines = join(directory, "run/lines");
  const files = await readdir(lines).catch(() => []);
  const texts = await Promise.all(files.map((name) => readFile(join(lines, name), "utf8").catch(() => "")));
  return texts.flatMap((text) => text.split("\n").flatMap((line) => /"line":"(token [^"]*)"/.exec(line)?.[1] ?? []));
}
