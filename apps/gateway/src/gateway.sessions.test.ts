import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { expect, test } from "vitest";
import { startGateway } from "./compose.ts";
import { connectLegacy, connectModern, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { type DeployedServer, insertDeployment, openRig, type Rig, until } from "./testing/rig.ts";
import { startUnixServer } from "./testing/unix-server.ts";

const rig = openRig();

const urlOf = (server: DeployedServer) => new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`);

function listTools(server: DeployedServer, sessionId: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(urlOf(server), {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": sessionId,
      "mcp-protocol-version": "2025-11-25",
    },
    body: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}',
  });
}

async function statusOf(...request: Parameters<typeof listTools>): Promise<number> {
  const response = await listTools(...request);
  await response.body?.cancel();
  return response.status;
}

/** A real MCP server that also records the session ids that it received and issued. */
async function deployWatched(options: Parameters<Rig["deploy"]>[1] = {}) {
  const shown: unknown[] = [];
  const given: string[] = [];
  const serve = createMcpListener({ onSession: (id) => given.push(id) });
  const server = await rig.deploy((request, response) => {
    const id = request.headers["mcp-session-id"];
    if (id !== undefined) shown.push(id);
    serve(request, response);
  }, options);
  return { server, shown, given };
}

test("GW-6 a session is its principal's alone: another one gets 404, before and after a restart", async () => {
  const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
  const [mine, theirs] = [await storeApiKey(rig, server.organizationId), await storeApiKey(rig, server.organizationId)];
  const { client, transport } = await connectLegacy(server.url, mine.bearer);
  const status = (bearer: Record<string, string>) => statusOf(server, transport.sessionId ?? "", bearer);
  expect([await status(mine.bearer), await status(theirs.bearer)]).toEqual([200, 404]);
  await rig.restart();
  expect([await status(mine.bearer), await status(theirs.bearer)]).toEqual([200, 404]);
  await client.close();
  expect(await (await listTools(server, transport.sessionId ?? "", theirs.bearer)).json()).toMatchObject({
    error: { code: -32001, data: { towpath: "session_not_found" } },
  });
});

test("GW-2 a session of a process that is gone answers 404, so that the client initializes again", async () => {
  const server = await rig.deploy(createMcpListener());
  const { client, transport } = await connectLegacy(urlOf(server));
  await client.listTools();
  await server.upstream.close();
  const next = await startUnixServer(createMcpListener());
  rig.runner.servers.set(server.deploymentId, { instanceId: randomUUID(), endpoint: next.endpoint });
  await expect(client.listTools()).rejects.toMatchObject({ code: 404 });
  expect(transport.sessionId).toBeDefined();
  await client.close();
  const again = await connectLegacy(urlOf(server));
  expect((await again.client.listTools()).tools.length).toBe(3);
  await again.client.close();
  await next.close();
});

/** Points a server's route to another deployment and waits until calls arrive there. */
async function rollOut(server: DeployedServer) {
  const next = await startUnixServer(createMcpListener());
  const deploymentId = randomUUID();
  await insertDeployment(rig.database.pool, { ...server, deploymentId });
  rig.runner.servers.set(deploymentId, { instanceId: randomUUID(), endpoint: next.endpoint });
  await rig.database.pool.query("UPDATE route SET deployment_id = $1, sequence = 2 WHERE label = $2", [
    deploymentId,
    server.label,
  ]);
  await until(async () => {
    const client = await connectModern(urlOf(server));
    await client.close();
    return (await rig.rows(server.projectId, 1)).some((row) => row.deploymentId === deploymentId);
  });
  return next;
}

test("GW-2 BLD-10 after a rollout a session stays with its process while that lives, and new clients get the new one", async () => {
  const server = await rig.deploy(createMcpListener());
  const url = urlOf(server);
  const old = await connectLegacy(url);
  await old.client.listTools();
  const next = await rollOut(server);
  expect((await old.client.listTools()).tools.length).toBe(3);
  // The old deployment is stopped: its sessions end, and nothing starts it again.
  rig.runner.servers.delete(server.deploymentId);
  await server.upstream.close();
  await until(() =>
    old.client.listTools().then(
      () => false,
      (error) => error.code === 404,
    ),
  );
  await old.client.close();
  await next.close();
});

test("BLD-10 requests in flight during a rollout finish at the process that has them, an answer that streams too", async () => {
  const held: ServerResponse[] = [];
  const serve = createMcpListener();
  // Whoever asks later, before the gateway knows the new route, is answered.
  const server = await rig.deploy((request, response) => {
    if (held.length < 2) held.push(response);
    else serve(request, response);
  });
  const call = () =>
    fetch(urlOf(server), {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}',
    });
  const waiting = call();
  await until(() => held.length === 1);
  const streaming = call();
  await until(() => held.length === 2);
  held[1]?.writeHead(200, { "content-type": "text/event-stream" }).write("data: first\n\n");
  const stream = await streaming;
  const next = await rollOut(server);
  held[0]?.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":7,"result":{"old":true}}');
  held[1]?.end("data: last\n\n");
  const answer = await waiting;
  expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: "2.0", id: 7, result: { old: true } }]);
  expect(await stream.text()).toBe("data: first\n\ndata: last\n\n");
  expect(held).toHaveLength(2);
  await next.close();
});

test("GW-6 clients see an id of ours and the server its own, in every auth mode", async () => {
  for (const authMode of ["towpath-public", "towpath-cloud", "passthrough"] as const) {
    const { server, shown, given } = await deployWatched({ authMode });
    const { bearer } = await storeApiKey(rig, server.organizationId);
    const { client, transport } = await connectLegacy(urlOf(server), bearer);
    await client.listTools();
    const id = transport.sessionId ?? "";
    expect(given).toHaveLength(1);
    expect(new Set(shown)).toEqual(new Set(given));
    expect(id).toMatch(/^s1\.[\w.-]{80,4000}$/);
    expect(id).not.toContain(given[0]);
    await transport.terminateSession();
    await client.close();
    // The server has ended it: the 404 is its own.
    expect(await (await listTools(server, id, bearer)).json()).toMatchObject({
      error: { message: "Session not found" },
    });
  }
});

test("GW-6 an id that we did not give out reaches no server and is never adopted, in any auth mode", async () => {
  for (const authMode of ["towpath-public", "towpath-cloud", "passthrough"] as const) {
    const { server, shown, given } = await deployWatched({ authMode });
    const other = await deployWatched({ authMode });
    const { bearer } = await storeApiKey(rig, server.organizationId);
    const otherKey = await storeApiKey(rig, other.server.organizationId);
    const { client, transport } = await connectLegacy(urlOf(server), bearer);
    const elsewhere = await connectLegacy(urlOf(other.server), otherKey.bearer);
    const known = shown.length;
    const id = transport.sessionId ?? "";
    const foreign = [
      given[0] ?? "",
      "",
      "chosen-by-the-client",
      `${id}x`,
      id.replace("s1.", "s2."),
      `${id}, ${id}`,
      elsewhere.transport.sessionId ?? "",
    ];
    for (const chosen of foreign) {
      // Twice: a refused id is not remembered as a good one.
      expect([chosen, await statusOf(server, chosen, bearer)]).toEqual([chosen, 404]);
      expect([chosen, await statusOf(server, chosen, bearer)]).toEqual([chosen, 404]);
    }
    expect(shown.length).toBe(known);
    expect(await statusOf(server, id, bearer)).toBe(200);
    await client.close();
    await elsewhere.client.close();
  }
});

test("GW-14 two gateways behind a round-robin serve one session together, and neither keeps a file of it", async () => {
  const stateDirectory = await mkdtemp(join(tmpdir(), "tp-g2-"));
  const second = await startGateway({ ...rig.config, stateDirectory }, pino({ level: "silent" }));
  const { server } = await deployWatched();
  await until(async () => (await fetch(`http://127.0.0.1:${second.port}/${server.label}/mcp`)).status !== 401);
  const served = new Map<number, number>();
  let turn = 0;
  const roundRobin = (url: string | URL, init?: RequestInit) => {
    const target = new URL(url);
    const port = turn++ % 2 === 0 ? rig.gateway.port : second.port;
    target.port = String(port);
    served.set(port, (served.get(port) ?? 0) + 1);
    return fetch(target, init);
  };
  const { client } = await connectLegacy(urlOf(server), {}, { fetch: roundRobin });
  for (let at = 0; at < 6; at++) {
    const text = `call ${at}`;
    expect((await client.callTool({ name: "echo", arguments: { text } })).content).toEqual([{ type: "text", text }]);
  }
  await client.close();
  expect(Math.min(...served.values())).toBeGreaterThanOrEqual(4);
  await second.stop(100);
  const rows = (await rig.rows(server.projectId, 8)).filter((row) => row.session !== null);
  expect(new Set(rows.map((row) => [row.session, row.client].join(" "))).size).toBe(1);
  for (const directory of [stateDirectory, rig.config.stateDirectory]) {
    expect((await readdir(directory)).filter((name) => name.includes("session"))).toEqual([]);
  }
  await rm(stateDirectory, { recursive: true, force: true });
});
