import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import pg from "pg";
import { expect, test } from "vitest";
import {
  appendBuildLog,
  buildLogChannel,
  digestOfLine,
  newestServerLines,
  readBuildLog,
  readRequestLines,
  readServerLogs,
  type ServerLogRow,
  serverLogChannel,
  writeServerLogs,
} from "../index.ts";

const database = openTestDatabase();

async function createBuild(attempt: number): Promise<string> {
  const [organization, project, branch, build] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const { pool } = database;
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'o', $1::uuid::text)", [organization]);
  await pool.query(
    "INSERT INTO project (id, organization_id, name, entrypoint) VALUES ($1, $2, $1::uuid::text, 'server.py')",
    [project, organization],
  );
  await pool.query("INSERT INTO branch (id, project_id, name) VALUES ($1, $2, 'main')", [branch, project]);
  await pool.query(
    `INSERT INTO build (id, project_id, branch_id, commit_sha, trigger, sequence, attempt, entrypoint)
     VALUES ($1, $2, $3, 'abc', 'push', 1, $4, 'server.py')`,
    [build, project, branch, attempt],
  );
  return build;
}

async function listen(channel: string) {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const payloads: string[] = [];
  client.on("notification", (message) => payloads.push(message.payload ?? ""));
  await client.query(`LISTEN ${channel}`);
  return {
    payloads: async () => {
      await client.query("SELECT 1");
      return payloads;
    },
    close: () => client.end(),
  };
}

const line = (text: string) => ({ time: new Date(), phase: "install" as const, kind: "output" as const, text });

test("PRJ-3 build-log lines are numbered without gaps, even from concurrent appends, and announced", async () => {
  const buildId = await createBuild(3);
  const listener = await listen(buildLogChannel);
  const appends = Array.from({ length: 8 }, (_, at) =>
    appendBuildLog(database.pool, { buildId, attempt: 3 }, [line(`a${at}`), line("nul \0")]),
  );
  const results = await Promise.all(appends);
  expect(results.every((result) => result.written)).toBe(true);
  expect(Math.max(...results.map((result) => result.lastLine))).toBe(16);
  const lines = await readBuildLog(database.pool, { buildId });
  expect(lines.map((entry) => entry.line)).toEqual(Array.from({ length: 16 }, (_, at) => at + 1));
  expect(lines[1]?.text).toBe("nul \ufffd");
  const rest = await readBuildLog(database.pool, { buildId, afterLine: 14, limit: 1 });
  expect(rest.map((entry) => entry.line)).toEqual([15]);
  expect(new Set(await listener.payloads())).toEqual(new Set([buildId]));
  await listener.close();
});

test("BLD-1 only the current attempt writes a build's log", async () => {
  const buildId = await createBuild(2);
  expect(await appendBuildLog(database.pool, { buildId, attempt: 1 }, [line("old")])).toEqual({
    written: false,
    lastLine: 0,
  });
  expect(await appendBuildLog(database.pool, { buildId: randomUUID(), attempt: 1 }, [line("none")])).toMatchObject({
    written: false,
  });
  expect(await appendBuildLog(database.pool, { buildId, attempt: 2 }, [line("new")])).toEqual({
    written: true,
    lastLine: 1,
  });
  expect((await readBuildLog(database.pool, { buildId })).map((entry) => entry.text)).toEqual(["new"]);
});

test("RUN-5 server-log lines keep their order, are read from a cursor and announced once per deployment", async () => {
  const deploymentId = randomUUID();
  const listener = await listen(serverLogChannel);
  const rows = Array.from({ length: 50 }, (_, at) => ({
    time: new Date(),
    projectId: randomUUID(),
    deploymentId,
    instanceId: at % 2 ? randomUUID() : null,
    stream: "stderr" as const,
    level: "info" as const,
    requestId: null,
    line: `line ${at}`,
  }));
  await writeServerLogs(database.pool, rows);
  await writeServerLogs(database.pool, []);
  const all = await readServerLogs(database.pool, { deploymentId });
  expect(all.map((entry) => entry.line)).toEqual(rows.map((row) => row.line));
  const newest = await readServerLogs(database.pool, { deploymentId, limit: 2 });
  expect(newest.map((entry) => entry.line)).toEqual(["line 48", "line 49"]);
  const after = await readServerLogs(database.pool, { deploymentId, afterId: all[9]?.id ?? 0, limit: 2 });
  expect(after.map((entry) => entry.line)).toEqual(["line 10", "line 11"]);
  expect(await readServerLogs(database.pool, { deploymentId: randomUUID() })).toEqual([]);
  const around = await readServerLogs(database.pool, { deploymentId, around: all[20]?.id ?? 0, limit: 2 });
  expect(around.map((entry) => entry.line)).toEqual(["line 0", "line 1"]);
  expect(await listener.payloads()).toEqual([deploymentId]);
  await listener.close();
});

test("RUN-5 the newest lines of an instance are those that it printed", async () => {
  const [projectId, deploymentId, instanceId] = [randomUUID(), randomUUID(), randomUUID()];
  const line = "\0 é\ud800 … ".repeat(2000);
  const row = (time: number, stream: ServerLogRow["stream"], of: string | null = instanceId): ServerLogRow => ({
    projectId,
    deploymentId,
    instanceId: of,
    time: new Date(time),
    stream,
    level: "info",
    requestId: null,
    line,
  });
  const now = Date.now();
  await writeServerLogs(database.pool, [row(now, "stdout"), row(now + 1, "stderr"), row(now + 2, "stdout")]);
  await writeServerLogs(database.pool, [row(now + 3, "platform"), row(now + 4, "stdout", randomUUID())]);
  const newest = (limit: number) => newestServerLines(database.pool, { deploymentId, instanceId, limit });
  expect(await newest(2)).toEqual([
    { stream: "stdout", time: new Date(now + 2), digest: digestOfLine(line) },
    { stream: "stderr", time: new Date(now + 1), digest: digestOfLine(line) },
  ]);
  expect(await newest(9)).toHaveLength(3);
});

test("LOG-4 the lines of a request are found by its project and id, in order, those of other projects never", async () => {
  const [projectId, deploymentId, requestId, time] = [randomUUID(), randomUUID(), randomUUID(), new Date()];
  const row = (line: string, change: Partial<ServerLogRow> = {}): ServerLogRow => ({
    time,
    projectId,
    deploymentId,
    instanceId: null,
    stream: "stdout",
    level: "info",
    requestId,
    line,
    ...change,
  });
  const later = new Date(time.getTime() + 3_600_000);
  await writeServerLogs(database.pool, [
    row("one"),
    row("another project's", { projectId: randomUUID() }),
    row("another request's", { requestId: randomUUID() }),
    row("outside of any", { requestId: null }),
    row("of a task that goes on", { time: later }),
  ]);
  const found = await readRequestLines(database.pool, { projectId, requestId, time });
  expect(found.lines.map(({ line }) => line)).toEqual(["one", "of a task that goes on"]);
  expect(found.hasMore).toBe(false);
  expect(found.lines[0]).toMatchObject({ deploymentId, requestId, stream: "stdout" });
  const first = await readRequestLines(database.pool, { projectId, requestId, time, limit: 1 });
  expect([first.lines.map(({ line }) => line), first.hasMore]).toEqual([["one"], true]);
  const { rows } = await database.pool.query(
    "SELECT count(*)::int AS indexed FROM pg_indexes WHERE indexdef LIKE '%(project_id, request_id, id)%'",
  );
  expect(rows[0].indexed).toBeGreaterThan(2);
});

test("CAP-1 RUN-5 a line of a caller's own instance says whose it is, as long as the instance is known", async () => {
  const build = await createBuild(1);
  const [userId, deploymentId, own, shared] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const { pool } = database;
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'Ada', $1::uuid::text)`, [userId]);
  await pool.query(
    `INSERT INTO deployment (id, project_id, branch_id, build_id, environment, slug)
     SELECT $1, project_id, branch_id, id, 'production', $1::uuid::text FROM build WHERE id = $2`,
    [deploymentId, build],
  );
  await pool.query(
    "INSERT INTO instance (id, deployment_id, state, caller_id) VALUES ($1, $3, 'ready', $4), ($2, $3, 'ready', NULL)",
    [own, shared, deploymentId, userId],
  );
  const row = { projectId: randomUUID(), deploymentId, time: new Date(), stream: "platform", level: "error" } as const;
  const lineOf = (instanceId: string | null) => ({ ...row, instanceId, requestId: null, line: "It crashed." });
  await writeServerLogs(pool, [lineOf(own), lineOf(shared), lineOf(null)]);
  expect((await readServerLogs(pool, { deploymentId })).map(({ caller }) => caller)).toEqual(["Ada", null, null]);
});
