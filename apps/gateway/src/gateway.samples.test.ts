import { callerNameHeader, checkCaller, signCallerName, signCheckJwt } from "@towpath/auth/credentials";
import { foldRequestLogs, listUsers, queryRequestLogs, recentLatency, releaseFigures } from "@towpath/logs";
import { createSecretBox } from "@towpath/secrets";
import { expect, test } from "vitest";
import { createReadModel } from "./read-model/routes.ts";
import { storeSamples } from "./read-model/sampled-calls.ts";
import { deployCounting, RawClient } from "./testing/counting-server.ts";
import { type DeployedServer, openRig, secret, until } from "./testing/rig.ts";
import { setPerCaller, setVariables } from "./testing/variables.ts";

const rig = openRig();
const { replays } = createSecretBox({ current: secret, previous: [] });

const manifest = {
  tools: [
    { tool_name: "read", annotations: { readOnlyHint: true } },
    { tool_name: "other", annotations: { readOnlyHint: true } },
    { tool_name: "pay", annotations: null },
    { tool_name: "marked", annotations: { destructiveHint: true } },
  ],
};

async function setReplay({ projectId, deploymentId }: DeployedServer, replay: object | null): Promise<void> {
  const { pool } = rig.database;
  await pool.query(
    "UPDATE build SET manifest = $2 FROM deployment WHERE deployment.build_id = build.id AND deployment.id = $1",
    [deploymentId, JSON.stringify(manifest)],
  );
  await pool.query("UPDATE project SET replay = $2 WHERE id = $1", [projectId, replay && JSON.stringify(replay)]);
}

type Row = { id: string; tool: string; sealed: string };

/** What is stored, with the arguments opened. */
async function samplesOf({ projectId }: DeployedServer) {
  const { rows } = await rig.database.pool.query<Row>("SELECT * FROM sampled_call WHERE project_id = $1", [projectId]);
  const opened = rows.map(({ id, tool, sealed }) => [tool, JSON.parse(replays.open({ projectId, id }, sealed) ?? "")]);
  return { text: JSON.stringify(rows), calls: opened.toSorted() };
}

const call = (name: string, given: object, more = {}) => ({ name, arguments: given, ...more });
const canary = "canary-7f3a9c1e5d";

test("CAP-4 only calls are sampled that can be replayed as they were: by consent, of read-only or marked tools, with nothing secret, sealed", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  await setVariables(rig.database, server, { TOKEN: canary });
  counting.release();
  const client = new RawClient(server.url, await caller());
  let id = 0;
  const send = async (params: object) => void (await client.result(++id, params));
  // Off by default.
  await send(call("read", { city: "before" }));
  await setReplay(server, { tools: ["marked"], keepDays: 3 });
  await until(async () => {
    await send(call("other", { city: "Oslo" }));
    // Two flushes later at the latest.
    return (await samplesOf(server)).calls.length > 0;
  });
  await send(call("read", { city: "Rome", n: 1 }));
  await send(call("read", { n: 1, city: "Rome" }));
  await send(call("marked", { id: 7 }));
  const refused = [
    call("pay", { amount: 3 }),
    call("read", { city: `in ${canary}` }),
    call("read", { nested: { note: Buffer.from(canary).toString("base64") } }),
    call("read", { password: "hunter2-canary" }),
    call("read", { text: "x".repeat(17_000) }),
    call("read", { city: "task" }, { task: { ttl: 1000 } }),
    call("read", { city: "answer" }, { requestState: canary }),
    call("unknown", { city: "nowhere" }),
  ];
  for (const params of refused) await send(params);
  // A call that the platform replays is none of production's.
  const { token } = await signCheckJwt(rig.signingKeys, server);
  await new RawClient(server.url, { authorization: `Bearer ${token}` }).result(
    ++id,
    call("read", { city: "replayed" }),
  );
  // Taken after all of these.
  await send(call("other", { city: "last" }));
  const expected = [
    ["marked", { id: 7 }],
    ["other", { city: "Oslo" }],
    ["other", { city: "last" }],
    ["read", { city: "Rome", n: 1 }],
  ];
  await until(async () => (await samplesOf(server)).calls.length >= expected.length);
  const { calls, text } = await samplesOf(server);
  expect(calls).toEqual(expected);
  for (const hidden of ["canary", "hunter2", "Rome", "Oslo", "city"]) expect(text).not.toContain(hidden);
  // Each row opens for its project and id only.
  const [row] = JSON.parse(text) as Row[];
  expect(() => replays.open({ projectId: server.projectId, id: crypto.randomUUID() }, row?.sealed ?? "")).toThrow();

  // Switched off, nothing comes after; nor for callers with values of their own, nor where the server does its own sign-in.
  const { pool } = rig.database;
  await send(call("read", { city: "late" }));
  await pool.query(
    "WITH off AS (UPDATE project SET replay = NULL WHERE id = $1) DELETE FROM sampled_call WHERE project_id = $1",
    [server.projectId],
  );
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect((await samplesOf(server)).calls).toEqual([]);
  await setPerCaller(rig.database, server);
  await setReplay(server, { tools: [], keepDays: 3 });
  const route = () => createReadModel(pool).read((reader) => reader.load([server.projectId]));
  expect((await route())[0]?.routes[0]?.replay).toBeNull();
  await setPerCaller(rig.database, server, false);
  expect((await route())[0]?.routes[0]?.replay).toEqual({ tools: ["read", "other"], keepDays: 3 });
  await pool.query("UPDATE project SET auth_mode = 'passthrough' WHERE id = $1", [server.projectId]);
  expect((await route())[0]?.routes[0]?.replay).toBeNull();
}, 60_000);

test("CAP-4 the sample stays bounded, spread over tools and shapes, with the newest of each", async () => {
  const { server } = await deployCounting(rig);
  await setReplay(server, { tools: [], keepDays: 3 });
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 27, 0, minute));
  const rows = (tool: string, shape: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      id: crypto.randomUUID(),
      tool,
      shape: `${tool} ${shape}`,
      fingerprint: `${tool} ${shape} ${n}`,
      sealed: "s",
      sampledAt: at(n),
      expiresAt: at(9999),
    }));
  const all = [...rows("busy", "a", 300), ...rows("busy", "b", 4), ...rows("rare", "a", 3)];
  await storeSamples(rig.database.pool, server.projectId, all);
  await storeSamples(rig.database.pool, server.projectId, all.slice(0, 1));
  const { rows: kept } = await rig.database.pool.query(
    `SELECT shape, count(*)::int AS count, min(sampled_at) AS oldest FROM sampled_call WHERE project_id = $1
     GROUP BY 1 ORDER BY 1`,
    [server.projectId],
  );
  expect(kept.map(({ shape, count }) => [shape, count])).toEqual([
    ["busy a", 193],
    ["busy b", 4],
    ["rare a", 3],
  ]);
  expect(kept[0].oldest).toEqual(at(107));
});

test("CAP-4 replayed calls are in the log as the check's, and count as nobody's use, session, error or version's figure", async () => {
  for (const authMode of ["towpath-cloud", "towpath-public"] as const) {
    let seen: Record<string, unknown> = {};
    const server = await rig.deploy(
      (request, response) => {
        request.resume();
        seen = request.headers;
        response.writeHead(200, { "content-type": "application/json" });
        const result = { isError: true, content: [{ type: "text", text: "Traceback: gone" }] };
        response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
      },
      { authMode },
    );
    const headers: Record<string, string> =
      authMode === "towpath-cloud"
        ? { authorization: `Bearer ${(await signCheckJwt(rig.signingKeys, server)).token}` }
        : { [callerNameHeader]: await signCallerName(rig.signingKeys, { ...server, userId: checkCaller }) };
    await new RawClient(server.url, headers).result(1, call("read", {}));
    const [row] = await rig.rows(server.projectId, 1);
    expect(row).toMatchObject({ principal: "check", outcome: "tool_error", isError: false, isRefused: false });
    // The server never gets the token.
    expect(JSON.stringify(seen)).not.toContain("eyJ");
    const { projectId, deploymentId } = server;
    const { pool } = rig.database;
    const count = async (text: string) => (await pool.query(text, [projectId])).rows[0].count;
    expect(await count("SELECT count(*)::int FROM request_log_failure WHERE project_id = $1")).toBe(0);
    const figures = {
      projectId,
      stableDeploymentId: deploymentId,
      candidateDeploymentId: projectId,
      from: new Date(0),
    };
    expect(await releaseFigures(pool, figures)).toMatchObject({ stable: { calls: 0, errors: 0 } });
    expect((await recentLatency(pool, projectId)).now.calls).toBe(0);
    expect((await queryRequestLogs(pool, { projectId, principals: ["check"] })).data).toHaveLength(1);
    expect((await queryRequestLogs(pool, { projectId, hasFailed: true })).data).toHaveLength(0);
    await foldRequestLogs(pool);
    expect((await listUsers(pool, { projectId, timeRange: "24h" })).data).toEqual([]);
    expect((await recentLatency(pool, projectId)).now.calls).toBe(0);
    expect((await queryRequestLogs(pool, { projectId, principals: ["check"] })).data).toHaveLength(1);
  }
});
