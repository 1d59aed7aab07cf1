import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { answerEmpty, connectModern, postTo, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { type DeployedServer, insertDeployment, openRig, until } from "./testing/rig.ts";
import { startUnixServer } from "./testing/unix-server.ts";

const rig = openRig();

const headers = { accept: "application/json, text/event-stream" };
const clientInfo = { name: "raw", version: "1" };
const opening = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
});
const listing = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" });

/** A server and a gradual release of a second version of it, both real and counted by their requests. */
async function deployBoth(options: Parameters<typeof rig.deploy>[1] = {}) {
  const requests = { live: 0, candidate: 0 };
  const counted = (version: keyof typeof requests): RequestListener => {
    const serve = createMcpListener({ json: true });
    return (request, response) => {
      requests[version]++;
      serve(request, response);
    };
  };
  const server = await rig.deploy(counted("live"), options);
  const candidateId = randomUUID();
  await insertDeployment(rig.database.pool, { ...server, deploymentId: candidateId });
  const upstream = await startUnixServer(counted("candidate"));
  onTestFinished(upstream.close);
  rig.runner.servers.set(candidateId, { instanceId: randomUUID(), endpoint: upstream.endpoint });
  await rig.database.pool.query(
    `INSERT INTO gradual_release (id, project_id, branch_id, stable_deployment_id, candidate_deployment_id, steps, share,
       minutes_per_step, max_error_points, max_latency_factor, min_calls, has_sessions, started_at, step_started_at, next_check_at)
     VALUES ($1, $2, $3, $4, $5, '{5,25,50}', 0, 15, 2, 1.5, 20, true, now(), now(), now())`,
    [randomUUID(), server.projectId, server.branchId, server.deploymentId, candidateId],
  );
  const change = async (sql: string, isDone: () => Promise<boolean>) => {
    await rig.database.pool.query(`UPDATE gradual_release SET ${sql} WHERE project_id = $1`, [server.projectId]);
    await until(isDone);
  };
  return { server, candidateId, requests, change };
}

async function open({ url }: DeployedServer, caller: Record<string, string> = {}): Promise<string> {
  const response = await postTo(url, opening, { ...headers, ...caller });
  expect(response.status).toBe(200);
  await response.body?.cancel();
  return response.headers.get("mcp-session-id") ?? "";
}

/** The deployment that a session id names. */
const deploymentOf = (session: string): string =>
  JSON.parse(Buffer.from(session.split(".")[1] ?? "", "base64url").toString())[1];

const list = async ({ url }: DeployedServer, session: string) => {
  const sent = { ...headers, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  const response = await postTo(url, listing, sent);
  await response.body?.cancel();
  return response.status;
};

const openMany = (server: DeployedServer, count: number) =>
  Promise.all(Array.from({ length: count }, () => open(server)));

test.runIf(isThorough)(
  "CAP-8 new sessions of the legacy era are dealt by the share, and none changes its version",
  async () => {
    const { server, candidateId, change } = await deployBoth();
    const early = await openMany(server, 20);
    expect(new Set(early.map(deploymentOf))).toEqual(new Set([server.deploymentId]));
    await change("share = 25", async () => deploymentOf(await open(server)) === candidateId);
    const sessions = await openMany(server, 400);
    const dealt = sessions.filter((session) => deploymentOf(session) === candidateId);
    // Five standard deviations of 400 draws.
    expect(Math.abs(dealt.length / 4 - 25)).toBeLessThan(10.9);
    // Each server knows its own sessions only, and answers 404 to others.
    const all = [...early, ...sessions];
    expect(new Set(await Promise.all(all.map((session) => list(server, session))))).toEqual(new Set([200]));
    await change("share = 100", async () => {
      const next = await openMany(server, 5);
      return next.every((session) => deploymentOf(session) === candidateId);
    });
    expect(new Set(await Promise.all(all.map((session) => list(server, session))))).toEqual(new Set([200]));
    const rows = await rig.rows(server.projectId, 100);
    expect(new Set(rows.map(({ deploymentId }) => deploymentId))).toEqual(new Set([server.deploymentId, candidateId]));
  },
  60_000,
);

test("CAP-8 a caller of the modern era, which has no sessions, stays with one version", async () => {
  const { server, candidateId, requests, change } = await deployBoth({ authMode: "towpath-cloud" });
  const keys = await Promise.all(Array.from({ length: 16 }, () => storeApiKey(rig, server.organizationId)));
  const versionOf = async (bearer: Record<string, string>) => {
    const before = { ...requests };
    const client = await connectModern(server.url, bearer);
    for (const text of ["a", "b", "c"]) await client.callTool({ name: "echo", arguments: { text } });
    await client.close();
    const reached = [requests.live - before.live, requests.candidate - before.candidate];
    expect(reached).toContain(0);
    return reached[1] === 0 ? "live" : "candidate";
  };
  const isCandidate = async (bearer: Record<string, string>) =>
    deploymentOf(await open(server, bearer)) === candidateId;
  await change("share = 50", async () => isCandidate(keys[0]?.bearer ?? {}));
  const first: string[] = [];
  for (const { bearer } of keys) first.push(await versionOf(bearer));
  expect(new Set(first)).toEqual(new Set(["live", "candidate"]));
  const again: string[] = [];
  for (const { bearer } of keys) again.push(await versionOf(bearer));
  expect(again).toEqual(first);
}, 60_000);

test("CAP-8 once a version has gone back, its sessions end, and all begin at the version before", async () => {
  const { server, candidateId, change } = await deployBoth();
  const stable = await open(server);
  await change("share = 100", async () => deploymentOf(await open(server)) === candidateId);
  const session = await open(server);
  expect([await list(server, session), await list(server, stable)]).toEqual([200, 200]);
  await change(
    "share = 0, state = 'went-back', ended_at = now()",
    async () => deploymentOf(await open(server)) === server.deploymentId,
  );
  expect([await list(server, session), await list(server, stable)]).toEqual([404, 200]);
  // Stopped instead, as when a newer version takes its place, they go on for as long as the server runs.
  await change(
    "state = 'running', ended_at = NULL, share = 100",
    async () => deploymentOf(await open(server)) === candidateId,
  );
  const next = await open(server);
  await change(
    "share = 0, state = 'stopped', ended_at = now()",
    async () => deploymentOf(await open(server)) === server.deploymentId,
  );
  expect(await list(server, next)).toBe(200);
});

test("CAP-8 a release beside another version than the live one has no effect", async () => {
  const { server, candidateId, change } = await deployBoth();
  await change("share = 100", async () => deploymentOf(await open(server)) === candidateId);
  const third = randomUUID();
  await insertDeployment(rig.database.pool, { ...server, deploymentId: third });
  rig.runner.servers.set(third, { instanceId: randomUUID(), endpoint: server.upstream.endpoint });
  await rig.database.pool.query("UPDATE route SET deployment_id = $2 WHERE project_id = $1", [server.projectId, third]);
  await until(async () => deploymentOf(await open(server)) === third);
  const sessions = await openMany(server, 20);
  expect(new Set(sessions.map(deploymentOf))).toEqual(new Set([third]));
});

test("CAP-8 GW-12 a sleeping version is answered for with its own lists", async () => {
  const { server, candidateId, requests, change } = await deployBoth();
  const { pool } = rig.database;
  const answers = (instructions: string) => {
    const text = `"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"},"instructions":"${instructions}"}`;
    const answer = { status: 200, text: 0, hasId: true };
    const conversation = {
      requested: "2025-11-25",
      version: "2025-11-25",
      hasSession: true,
      answers: { initialize: answer },
    };
    return JSON.stringify({ texts: [text], conversations: [conversation] });
  };
  for (const [deploymentId, text] of [
    [server.deploymentId, answers("live")],
    [candidateId, answers("candidate")],
  ]) {
    await pool.query(
      `INSERT INTO recorded_answers (build_id, answers, bytes) SELECT build_id, $2, length($2) FROM deployment WHERE id = $1`,
      [deploymentId, text],
    );
  }
  await pool.query("UPDATE project SET sleeping_lists = 'always' WHERE id = $1", [server.projectId]);
  // Once the gateway knows another server, it knows this change too.
  await rig.deploy(answerEmpty);
  const instructions = async () => {
    const response = await postTo(server.url, opening, headers);
    return ((await response.json()) as { result: { instructions?: string } }).result.instructions;
  };
  expect(await instructions()).toBe("live");
  const before = { ...requests };
  await change("share = 100", async () => (await instructions()) === "candidate");
  expect(requests).toEqual(before);
  expect(rig.runner.ensured).not.toContain(candidateId);
  // The first call of a session that was opened so starts the version that it belongs to.
  const session = await open(server);
  expect(session).toMatch(/^p1\./);
  expect(deploymentOf(session)).toBe(candidateId);
});
