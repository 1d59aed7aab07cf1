import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentRelease } from "@towpath/db/release";
import { freePort } from "@towpath/role/testing";
import { Agent, fetch as undiciFetch } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { answerJson, connectLegacy, emptyResult } from "./testing/clients.ts";
import { type GatewayProcess, isAlive, spawnGateway, startGatewayProcess } from "./testing/gateway-process.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { type DeployedServer, openRig, segmentsIn, until } from "./testing/rig.ts";
import { deployAsleep } from "./testing/sleeping-server.ts";

const rig = openRig();
let directory: string;
/** For all tests: a start of three processes costs seconds. Those that end it come last. */
let gateway: GatewayProcess;
let metricsPort: number;
const start = async () => {
  metricsPort = await freePort();
  const settings = { TOWPATH_GATEWAY_WORKERS: "2", TOWPATH_GATEWAY_METRICS_PORT: String(metricsPort) };
  gateway = await startGatewayProcess(rig, directory, settings);
};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-workers-"));
  await start();
});
afterAll(async () => {
  gateway.child.kill("SIGKILL");
  await until(() => !gateway.workers().some(isAlive));
  await rm(directory, { recursive: true });
});

// One connection per request, so that any free worker takes it.
const dispatcher = new Agent({ pipelining: 0 });
const fetchAlone = (url: string | URL, init: object = {}) =>
  undiciFetch(url, { ...init, dispatcher } as never) as unknown as Promise<Response>;

const origin = () => `http://127.0.0.1:${gateway.port}`;
const urlOf = ({ label }: DeployedServer) => new URL(`${origin()}/${label}/mcp`);

/** Waits until every worker serves what the database says. */
async function workersKnow(): Promise<void> {
  const { rows } = await rig.database.pool.query("SELECT count(*)::int AS count FROM route");
  await until(async () => {
    const health = (await (await fetchAlone(`${origin()}/-/healthz`)).json()) as { routes: number; workers: number };
    return health.workers === 2 && health.routes === rows[0].count;
  });
}

async function metrics(from = `http://127.0.0.1:${metricsPort}`): Promise<Map<string, number>> {
  const text = await (await fetchAlone(`${from}/-/metrics`)).text();
  const lines = text.split("\n").flatMap((line) => [...line.matchAll(/^(towpath_gateway_\S+) (\S+)$/g)]);
  return new Map(lines.map(([, name = "", value]) => [name, Number(value)]));
}

test("OPS-3 the metrics of several workers name the release once", async () => {
  const { version, commit, schema } = currentRelease();
  const text = await (await fetchAlone(`http://127.0.0.1:${metricsPort}/-/metrics`)).text();
  const labels = `version="${version}",commit="${commit}",schema="${schema}",role="gateway"`;
  expect(text.match(/^towpath_build_info.*$/gm)).toEqual([`towpath_build_info{${labels}} 1`]);
});

test("GW-14 two workers on one port serve one legacy session, and what they count adds up", async () => {
  const server = await rig.deploy(createMcpListener());
  await workersKnow();
  const before = await metrics();
  const { client, transport } = await connectLegacy(urlOf(server), {}, { fetch: fetchAlone });
  for (let at = 0; at < 16; at++) {
    const text = `call ${at}`;
    expect((await client.callTool({ name: "echo", arguments: { text } })).content).toEqual([{ type: "text", text }]);
  }
  await transport.terminateSession();
  await client.close();
  // The handshake takes two messages, stream and end of the session one each.
  const rows = await rig.rows(server.projectId, 20);
  expect(new Set(rows.map(({ session }) => session)).size).toBe(1);
  await until(async () => (await metrics()).get("towpath_gateway_log_rows_written_total") === rows.length);

  const after = await metrics();
  const of = (name: string) =>
    (after.get(`towpath_gateway_${name}`) ?? 0) - (before.get(`towpath_gateway_${name}`) ?? 0);
  const [first, second] = [of('worker_requests_total{worker="0"}'), of('worker_requests_total{worker="1"}')];
  expect(Math.min(first, second)).toBeGreaterThanOrEqual(2);
  expect(first + second).toBe(of("requests_total"));
  expect(of("request_duration_seconds_count")).toBe(rows.length);
  expect(of('request_duration_seconds_bucket{le="+Inf"}')).toBe(rows.length);
  expect(of('responses_total{status="200"}') + of('responses_total{status="202"}')).toBe(rows.length);
  expect(after.get("towpath_gateway_workers")).toBe(2);
  // At the port of the servers, for this machine only, they are the same.
  expect((await metrics(origin())).get("towpath_gateway_workers")).toBe(2);
  // Limits are those of the whole, not of a worker; routes are the same in both.
  expect(after.get("towpath_gateway_body_bytes_max")).toBe(256 * 1024 * 1024);
  expect(after.get("towpath_gateway_routes")).toBe((await rig.database.pool.query("SELECT FROM route")).rowCount);
});

test("GW-7 GW-14 a call is recorded as canceled although another worker got the message", async () => {
  let running = 0;
  const server = await rig.deploy(createMcpListener({ onWait: () => running++ }));
  await workersKnow();
  const { client } = await connectLegacy(urlOf(server), {}, { fetch: fetchAlone });
  for (let at = 1; at <= 6; at++) {
    const canceling = new AbortController();
    const options = { signal: canceling.signal };
    const settled = client.callTool({ name: "wait", arguments: { text: "x" } }, undefined, options).catch(() => {});
    await until(() => running === at);
    canceling.abort();
    await settled;
    // So that the next call does not always meet the same worker.
    if (at % 2 === 0) await fetchAlone(`${origin()}/`);
  }
  // They are on their way when their calls have been given up, and don't survive the client.
  await until(
    async () =>
      (await rig.rows(server.projectId, 6)).filter(({ method }) => method === "notifications/cancelled").length === 6,
  );
  await client.close();
  await until(async () => {
    const calls = (await rig.rows(server.projectId, 6)).filter(({ method }) => method === "tools/call");
    return calls.length === 6 && calls.every(({ outcome }) => outcome === "canceled");
  });
});

test("GW-10 GW-14 a worker killed under load: only its calls in flight fail, no answered call loses its row, and it is replaced", async () => {
  const server = await rig.deploy((request, response) => {
    request.resume();
    setTimeout(() => {
      answerJson(response, emptyResult);
    }, 5);
  });
  await workersKnow();
  const callers = 20;
  let answered = 0;
  let killedAt = Number.POSITIVE_INFINITY;
  const failures: number[] = [];
  await until(() => gateway.workers()[0] !== undefined);
  const pids = gateway.workers();
  const load = Promise.all(
    Array.from({ length: callers }, async () => {
      for (let turn = 0; turn < 40; turn++) {
        try {
          const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}';
          const answer = await fetchAlone(urlOf(server), { method: "POST", body });
          await answer.text();
          if (answer.status === 200) answered++;
          else failures.push(performance.now());
        } catch {
          failures.push(performance.now());
        }
      }
    }),
  );
  await until(() => answered > 200);
  process.kill(pids[0] ?? Number.NaN, "SIGKILL");
  killedAt = performance.now();
  await load;
  // Each caller has one call in flight, and the other worker has its part of them.
  expect(failures.length).toBeLessThan(callers);
  for (const at of failures) expect(at - killedAt).toBeLessThan(3000);
  expect(answered + failures.length).toBe(callers * 40);
  await until(() => gateway.workers()[0] !== pids[0], 10_000);
  expect(gateway.workers()[1]).toBe(pids[1]);
  await workersKnow();

  const rows = async () =>
    (await rig.database.pool.query("SELECT FROM request_log WHERE project_id = $1", [server.projectId])).rowCount ?? 0;
  await until(async () => (await rows()) >= answered);
  // Nothing is left that could be written.
  await until(async () => (await segmentsIn(join(directory, "gateway/spool"))).length === 0);
  // A call of which the row was kept but whose answer did not get through any more.
  expect(await rows()).toBeLessThanOrEqual(answered + failures.length);
}, 60_000);

test.runIf(isThorough)("GW-14 a worker that hangs is killed and replaced", { timeout: 60_000 }, async () => {
  await workersKnow();
  const [hung = 0] = gateway.workers();
  process.kill(hung, "SIGSTOP");
  await until(() => !isAlive(hung) && gateway.workers()[0] !== hung, 40_000);
  await workersKnow();
});

test.runIf(isThorough)(
  "GW-12 GW-14 streams of a session opened asleep are with any worker, and all go to the server with its first call",
  async () => {
    const streams: string[] = [];
    const serve = createMcpListener();
    const server = await deployAsleep(rig, (request, response) => {
      if (request.method !== "GET") return serve(request, response);
      streams.push(String(request.headers["mcp-session-id"]));
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.write("data: {}\n\n");
    });
    await workersKnow();
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const post = (method: string, params: object, more: Record<string, string>) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return fetchAlone(urlOf(server), { method: "POST", headers: { ...headers, ...more }, body });
    };
    const client = { name: "raw", version: "1" };
    const opening = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client };
    const opened = await post("initialize", opening, {});
    const session = {
      "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-06-18",
    };
    const open = () => fetchAlone(urlOf(server), { headers: { ...session, accept: "text/event-stream" } });
    const held: Response[] = [];
    // The kernel chooses the worker of a connection: until each holds some.
    await until(async () => {
      held.push(await open());
      return (await metrics()).get("towpath_gateway_streams_held") === 2;
    });
    expect([server.isStarted(), streams]).toEqual([false, []]);
    await post("tools/call", { name: "echo", arguments: { text: "x" } }, session);
    for (const response of held) {
      const reader = response.body?.getReader();
      expect(Buffer.from((await reader?.read())?.value ?? "").toString()).toContain("data: {}");
      await reader?.cancel();
    }
    expect([streams.length, new Set(streams).size]).toEqual([held.length, 1]);
    await until(async () => (await metrics()).get("towpath_gateway_streams_held") === 0);
  },
);

test.runIf(isThorough)("ORG-3 GW-14 two workers serve one session of a portal, and it ends at both", async () => {
  const open = new Set<string>();
  const server = await rig.deploy(createMcpListener({ onSession: (id) => void open.add(id) }));
  await storeManifest(rig, server);
  const portal = await addPortal(rig, [{ server, prefix: "one" }]);
  await workersKnow();
  const url = new URL(`${origin()}/${portal.label}/mcp`);
  const { client, transport } = await connectLegacy(url, {}, { fetch: fetchAlone });
  await until(async () => {
    const text = `call ${open.size}`;
    expect((await client.callTool({ name: "echo", arguments: { text } })).content).toEqual([{ type: "text", text }]);
    return open.size === 2;
  });
  const { sessionId = "" } = transport;
  await transport.terminateSession();
  // At once: every worker knows of the end before the client does.
  const headers = { "mcp-session-id": sessionId, "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const pings = Array.from({ length: 16 }, () => fetchAlone(url, { method: "POST", headers, body }));
  expect(new Set((await Promise.all(pings)).map(({ status }) => status))).toEqual(new Set([404]));
  const rows = async () => (await rig.rows(server.projectId, 3)).filter(({ httpMethod }) => httpMethod === "DELETE");
  await until(async () => (await rows()).length === 2);
  await client.close();
});

test("OPS-1 SIGTERM lets calls of all workers end, and then the status is 0 and no process is left", async () => {
  const server = await rig.deploy((request, response) => {
    request.resume();
    setTimeout(() => response.end("answered"), 1000);
  });
  await workersKnow();
  const calls = Array.from({ length: 6 }, () =>
    fetchAlone(urlOf(server), { method: "POST", body: "{}" }).then((answer) => answer.text()),
  );
  await until(async () => (await metrics()).get("towpath_gateway_requests_open") === 6);
  gateway.child.kill("SIGTERM");
  expect(await Promise.all(calls)).toEqual(Array(6).fill("answered"));
  expect(await gateway.ended).toBe(0);
  expect(gateway.workers().filter(isAlive)).toEqual([]);
});

test.runIf(isThorough)(
  "GW-14 a killed primary leaves no worker behind, and the next gateway takes the port and the rows of all workers",
  async () => {
    await start();
    const server = await rig.deploy(createMcpListener({ json: true }));
    await workersKnow();
    const { client } = await connectLegacy(urlOf(server), {}, { fetch: fetchAlone });
    for (let at = 0; at < 10; at++) await client.callTool({ name: "echo", arguments: { text: "x" } });
    const { port } = gateway;
    const workers = gateway.workers();
    gateway.child.kill("SIGKILL");
    await until(() => !workers.some(isAlive));
    // One process now: it owns what the second worker has left.
    gateway = await startGatewayProcess(rig, directory, {
      TOWPATH_GATEWAY_WORKERS: "1",
      TOWPATH_GATEWAY_PORT: String(port),
    });
    expect((await rig.rows(server.projectId, 12)).filter(({ method }) => method === "tools/call")).toHaveLength(10);
  },
);

test.runIf(isThorough)(
  "OPS-1 a port that is taken ends all processes with status 1 and says which setting to change",
  async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const port = String((taken.address() as { port: number }).port);
    const child = spawnGateway({
      DATABASE_URL: rig.config.databaseUrl,
      TOWPATH_DATA_DIR: join(directory, "second"),
      TOWPATH_RUN_DIR: directory,
      TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
      TOWPATH_GATEWAY_PORT: port,
      TOWPATH_GATEWAY_WORKERS: "2",
    });
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += chunk;
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code).toBe(1);
    expect(text).toContain(`Port ${port} on 127.0.0.1 is in use: choose another by TOWPATH_GATEWAY_PORT.`);
    await new Promise((resolve) => taken.close(resolve));
  },
);
