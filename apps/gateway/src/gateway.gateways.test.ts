import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { connectLegacy } from "./testing/clients.ts";
import { type GatewayProcess, startGatewayProcess } from "./testing/gateway-process.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { createRig, type DeployedServer, type Rig, until } from "./testing/rig.ts";
import { deployAsleep } from "./testing/sleeping-server.ts";

// Two gateways, as on two hosts: separate processes with separate data directories. They share the database.

let rig: Rig;
const directories: string[] = [];
const gateways: GatewayProcess[] = [];
beforeAll(async () => {
  rig = await createRig();
  for (const name of ["first", "second"]) {
    const directory = await mkdtemp(join(tmpdir(), `tp-${name}-`));
    directories.push(directory);
    gateways.push(await startGatewayProcess(rig, directory, { TOWPATH_GATEWAY_WORKERS: "1" }));
  }
  // Each knows of the other, and of the rig's own.
  for (const gateway of gateways) {
    await until(async () => (await metricOf(gateway, "limit_gateways")) === 2);
  }
}, 120_000);
afterAll(async () => {
  for (const { child, ended } of gateways) {
    child.kill("SIGTERM");
    await ended;
  }
  for (const directory of directories) await rm(directory, { recursive: true });
  await rig.close();
});

async function metricOf({ port }: { port: number }, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/-/metrics`)).text();
  return Number(new RegExp(`^towpath_gateway_${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** The URL of a server at each gateway, once it serves the database's state. */
async function urlsOf({ label }: Pick<DeployedServer, "label">): Promise<[URL, URL]> {
  const { rows } = await rig.database.pool.query("SELECT count(*)::int AS count FROM route");
  const urls: URL[] = [];
  for (const gateway of gateways) {
    await until(async () => (await metricOf(gateway, "routes")) === rows[0].count);
    urls.push(new URL(`http://127.0.0.1:${gateway.port}/${label}/mcp`));
  }
  return urls as [URL, URL];
}

const version = { "mcp-protocol-version": "2025-06-18" };
const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
function post(url: URL, message: object, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return fetch(url, { method: "POST", headers: { ...json, ...version, ...headers }, body, ...(signal && { signal }) });
}
const sessionOf = (id: string | undefined) => ({ "mcp-session-id": id ?? "" });

test("ORG-3 GW-14 a portal session that ends at one gateway is over at the other, with its sessions at servers", async () => {
  const open = new Set<string>();
  const server = await rig.deploy(createMcpListener({ onSession: (id) => void open.add(id) }));
  await storeManifest(rig, server);
  open.clear();
  const portal = await addPortal(rig, [{ server, prefix: "one" }]);
  const [here, there] = await urlsOf(portal);
  const { client, transport } = await connectLegacy(here);
  const session = sessionOf(transport.sessionId);
  const call = { id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "x" } } };
  for (const url of [here, there]) expect(await (await post(url, call, session)).text()).toContain('"x"');
  expect(open.size).toBe(2);

  await transport.terminateSession();
  await until(async () => (await post(there, { id: 2, method: "ping" }, session)).status === 404);
  await until(async () => {
    const rows = await rig.rows(server.projectId, 3);
    return rows.filter(({ httpMethod }) => httpMethod === "DELETE").length === 2;
  });
  await client.close();
});

test.runIf(isThorough)(
  "GW-7 GW-14 a call is recorded as canceled although the other gateway got the message, and a portal's server gets it too",
  async () => {
    let running = 0;
    const server = await rig.deploy(createMcpListener({ onWait: () => running++ }));
    await storeManifest(rig, server);
    const portal = await addPortal(rig, [{ server, prefix: "one" }]);
    for (const [at, { label, projectId }] of [server, portal].entries()) {
      const [here, there] = await urlsOf({ label });
      const { client, transport } = await connectLegacy(here);
      const session = sessionOf(transport.sessionId);
      const leaving = new AbortController();
      const params = { name: "wait", arguments: { text: "x" } };
      const called = post(here, { id: 7, method: "tools/call", params }, session, leaving.signal);
      await until(() => running === at + 1);
      const canceled = await post(there, { method: "notifications/cancelled", params: { requestId: 7 } }, session);
      expect(canceled.status).toBe(202);
      const ofServer = async () => (await rig.rows(server.projectId, 1)).map(({ method }) => method);
      await until(async () => (await ofServer()).filter((method) => method === "notifications/cancelled").length > at);
      // Its client gets no answer any more, and leaves.
      leaving.abort();
      await called.then((answer) => answer.text()).catch(() => {});
      await until(async () => {
        const rows = await rig.rows(projectId, 1);
        return rows.some(({ method, outcome }) => method === "tools/call" && outcome === "canceled");
      });
      await client.close();
    }
  },
);

test("GW-12 GW-14 a stream that one gateway holds for a session opened asleep goes to the server with a call at the other", async () => {
  const streams: string[] = [];
  const serve = createMcpListener();
  const server = await deployAsleep(rig, (request, response) => {
    if (request.method !== "GET") return serve(request, response);
    streams.push(String(request.headers["mcp-session-id"]));
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.write("data: {}\n\n");
  });
  const [here, there] = await urlsOf(server);
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const opened = await post(here, { id: 1, method: "initialize", params }, {});
  const session = sessionOf(opened.headers.get("mcp-session-id") ?? undefined);
  const held = await fetch(there, { headers: { ...version, ...session, accept: "text/event-stream" } });
  expect([await metricOf(gateways[1] ?? { port: 0 }, "streams_held"), server.isStarted(), streams]).toEqual([
    1,
    false,
    [],
  ]);
  await post(here, { id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "x" } } }, session);
  const reader = held.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? "").toString()).toContain("data: {}");
  expect(streams).toHaveLength(1);
  await reader?.cancel();
});
