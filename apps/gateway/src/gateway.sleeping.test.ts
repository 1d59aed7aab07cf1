import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { createRunnerClient } from "@towpath/runner-api";
import { afterEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { answerEmpty, connectLegacy, connectModern, postTo, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { createRig, insertDeployment, openRig, setAccess, until } from "./testing/rig.ts";
import { choose, deployAsleep, type SleepingServer, sleepAlways } from "./testing/sleeping-server.ts";
import { startUnixServer } from "./testing/unix-server.ts";

const rig = openRig();
afterEach(() => {
  rig.runner.leaseMs = 10_000;
});

const both = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const message = (method: string, params?: object, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, ...(params && { params }) });
const clientInfo = { name: "raw", version: "3" };
const opening = { protocolVersion: "2025-06-18", capabilities: { roots: {} }, clientInfo };

/** A session of 2025-06-18 that was opened while the server was asleep: its headers. */
async function openSession({ url }: SleepingServer, headers: Record<string, string> = {}) {
  const response = await postTo(url, message("initialize", opening), { ...both, ...headers });
  const id = response.headers.get("mcp-session-id") ?? "";
  return { ...both, ...headers, "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" };
}

const wake = ({ deploymentId }: SleepingServer) => {
  const server = rig.runner.servers.get(deploymentId);
  if (server) rig.runner.servers.set(deploymentId, { ...server, isAsleep: false });
};

test("GW-12 clients of both eras connect to a sleeping server, read its lists and ping it, and nothing starts", async () => {
  const server = await deployAsleep(rig, createMcpListener());
  const modern = await connectModern(server.url);
  const { client: legacy, transport } = await connectLegacy(server.url);
  expect((await modern.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "fail"]);
  expect((await legacy.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "fail", "slow"]);
  expect(await legacy.ping()).toEqual({});
  expect(legacy.getServerVersion()).toMatchObject({ name: "both-eras" });
  expect(transport.sessionId).toMatch(/^p1\./);
  await transport.terminateSession();
  await Promise.all([modern.close(), legacy.close()]);
  expect([server.isStarted(), server.received]).toEqual([false, []]);
});

test("GW-12 GW-7 the row of a request that was answered for a sleeping server says so, with session and client", async () => {
  const server = await deployAsleep(rig, createMcpListener());
  const session = await openSession(server);
  expect((await postTo(server.url, message("tools/list"), session)).status).toBe(200);
  const rows = await rig.rows(server.projectId, 2);
  expect(new Set(rows.map((row) => row.session)).size).toBe(1);
  for (const row of rows) {
    expect(row).toMatchObject({
      outcome: "ok",
      httpStatus: 200,
      isError: false,
      instanceId: null,
      serverMs: null,
      heldMs: 0,
      startAttempt: { outcome: "asleep", startMs: null, reason: null },
      deploymentId: server.deploymentId,
      clientName: "raw",
      clientVersion: "3",
      protocolVersion: "2025-06-18",
      session: expect.any(String),
    });
  }
});

test.runIf(isThorough)(
  "GW-12 answers are those of the server itself, in every revision, errors and refusals included",
  async () => {
    const server = await deployAsleep(rig, createMcpListener());
    const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    const ask = async (url: URL) => {
      const answers: unknown[] = [];
      for (const requested of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
        const opened = await postTo(url, message("initialize", { ...opening, protocolVersion: requested }), both);
        answers.push(await answerOf(opened));
        const session = {
          ...both,
          "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
          "mcp-protocol-version": requested,
        };
        for (const [at, method] of ["ping", ...methods].entries()) {
          const id = at % 2 === 0 ? `text "${at}"` : at;
          answers.push(await answerOf(await postTo(url, message(method, undefined, id), session)));
        }
      }
      for (const method of ["server/discover", ...methods]) {
        answers.push(await answerOf(await postTo(url, message(method, modernParams), modernHeaders(method))));
      }
      return answers;
    };
    const asleep = await ask(server.url);
    expect([server.isStarted(), server.received.length]).toEqual([false, 0]);
    await choose(rig, server, "off");
    const awake = await ask(server.url);
    expect(server.received.length).toBe(awake.length);
    expect(asleep).toEqual(awake);
    expect(JSON.stringify(asleep)).toContain("-32601");
  },
);

const modernParams = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  },
};
const modernHeaders = (method: string) => ({ ...both, "mcp-protocol-version": "2026-07-28", "mcp-method": method });

/** Status and JSON-RPC message, whether it came as JSON or as an event. */
async function answerOf(response: Response) {
  const text = await response.text();
  const data = /^data: ?(.+)$/m.exec(text)?.[1] ?? text;
  return { status: response.status, message: data === "" ? null : JSON.parse(data) };
}

test("GW-12 the first call wakes the server once; it receives how the session was opened, and clients cannot forge that", async () => {
  const server = await deployAsleep(rig, createMcpListener());
  const session = await openSession(server);
  await postTo(server.url, message("tools/list"), session);
  expect(server.isStarted()).toBe(false);
  const forged = { ...session, "towpath-initialize": "Zm9yZ2Vk", Towpath_Initialize: "Zm9yZ2Vk" };
  const call = () => postTo(server.url, message("tools/call", { name: "echo", arguments: { text: "x" } }), forged);
  await Promise.all([call(), call()]);
  expect(rig.runner.ensured.filter((id) => id === server.deploymentId)).toHaveLength(1);
  expect(server.received).toHaveLength(2);
  const ids = new Set(server.received.map(({ headers }) => headers["mcp-session-id"]));
  expect([...ids]).toEqual([expect.stringMatching(/^towpath-[0-9a-f-]{36}$/)]);
  for (const { headers } of server.received) {
    const received = Buffer.from(String(headers["towpath-initialize"]), "base64url").toString();
    expect(JSON.parse(received)).toEqual(opening);
    expect(Object.keys(headers).filter((name) => name.includes("initialize"))).toEqual(["towpath-initialize"]);
  }
  // Running, it answers lists itself.
  await postTo(server.url, message("tools/list"), session);
  expect(server.received).toHaveLength(3);
});

test("GW-12 a server that runs answers itself, whoever started it; a frozen one sleeps", async () => {
  const server = await deployAsleep(rig, createMcpListener());
  const list = () => postTo(server.url, message("tools/list", modernParams), modernHeaders("tools/list"));
  sleepAlways(rig, server);
  const runner = createRunnerClient(rig.runner.address, { timeoutMs: 5000 });
  // Another gateway has started it: this one has no lease.
  await runner.ensure(server.deploymentId);
  await runner.close();
  await list();
  expect(server.received).toHaveLength(0);
  wake(server);
  await list();
  expect(server.received).toHaveLength(1);
});

test("GW-12 it is off by default, and a server whose lists depend on the caller is woken unless the setting is always", async () => {
  const serve = createMcpListener();
  const server = await deployAsleep(
    rig,
    (request, response) => {
      // Known callers get more.
      if (request.headers["towpath-actor"] === undefined) return serve(request, response);
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"secret","inputSchema":{}}]}}');
    },
    { choice: "off" },
  );
  const { rows } = await rig.database.pool.query(
    "SELECT varies_by FROM recorded_answers JOIN deployment USING (build_id) WHERE id = $1",
    [server.deploymentId],
  );
  expect(rows).toEqual([{ varies_by: expect.any(String) }]);
  const defaults = await rig.database.pool.query(
    "SELECT column_default FROM information_schema.columns WHERE column_name = 'sleeping_lists'",
  );
  expect(defaults.rows[0].column_default).toContain("'off'");
  const reached = async (choice: string) => {
    await choose(rig, server, choice);
    sleepAlways(rig, server);
    server.received.length = 0;
    await postTo(server.url, message("server/discover", modernParams), modernHeaders("server/discover"));
    return server.received.length;
  };
  expect([await reached("always"), await reached("stable"), await reached("off")]).toEqual([0, 1, 1]);
});

test("GW-12 a server that does its own sign-in is always asked", async () => {
  const server = await deployAsleep(rig, createMcpListener(), { authMode: "passthrough", choice: "always" });
  await postTo(server.url, message("server/discover", modernParams), modernHeaders("server/discover"));
  expect(server.received).toHaveLength(1);
});

test.runIf(isThorough)(
  "GW-12 GW-4 GW-15 refusals are byte for byte the same for a running and a sleeping server",
  async () => {
    const server = await deployAsleep(rig, createMcpListener(), { authMode: "towpath-cloud" });
    const allowed = await storeApiKey(rig, server.organizationId);
    const left = await storeApiKey(rig, server.organizationId);
    const foreign = await storeApiKey(rig, randomUUID());
    await setAccess(rig.database, server.projectId, { apiKeyIds: [allowed.id], tools: ["echo"] });
    await choose(rig, server, "stable");
    const refusals = async () => {
      const answers: unknown[] = [];
      for (const bearer of [{}, { authorization: "Bearer nonsense" }, foreign.bearer, left.bearer]) {
        for (const body of [message("initialize", opening), message("tools/list")]) {
          const response = await postTo(server.url, body, { ...both, ...bearer });
          answers.push([response.status, response.headers.get("www-authenticate"), await response.text()]);
        }
      }
      return answers;
    };
    const asleep = await refusals();
    expect(asleep.map((each) => (each as unknown[])[0])).toEqual([401, 401, 401, 401, 404, 404, 403, 403]);
    const session = await openSession(server, allowed.bearer);
    const listed = await answerOf(await postTo(server.url, message("tools/list"), session));
    expect(listed.message.result.tools.map(({ name }: { name: string }) => name)).toEqual(["echo"]);
    // Somebody else's session.
    expect((await postTo(server.url, message("tools/list"), { ...session, ...left.bearer })).status).toBe(403);
    await setAccess(rig.database, server.projectId, { tools: ["echo"] });
    await choose(rig, server, "stable");
    const stolen = await answerOf(await postTo(server.url, message("tools/list"), { ...session, ...left.bearer }));
    expect([stolen.status, stolen.message.error.code]).toEqual([404, -32001]);
    expect(server.isStarted()).toBe(false);
    await setAccess(rig.database, server.projectId, { apiKeyIds: [allowed.id], tools: ["echo"] });
    await choose(rig, server, "off");
    expect(await refusals()).toEqual(asleep);
  },
);

test("GW-12 the server answers everything that is not exactly a handshake or list, including refusals", async () => {
  const server = await deployAsleep(rig, createMcpListener());
  const session = await openSession(server);
  sleepAlways(rig, server);
  const list = message("tools/list");
  const modern = modernHeaders("tools/list");
  const odd: [string, string | undefined, Record<string, string>][] = [
    ["", `[${list}]`, session],
    ["", message("tools/list", { cursor: "unknown" }), session],
    ["", message("tools/list", { extra: 1 }), session],
    ["", message("tools/list", undefined, 1.5), session],
    ["", list.replace('"jsonrpc"', '"method":"ping","jsonrpc"'), session],
    ["?x=1", list, session],
    ["", list, { ...session, accept: "application/json" }],
    ["", list, { ...session, "content-type": "text/plain" }],
    ["", list, { ...session, "mcp-protocol-version": "2025-11-25" }],
    ["", list, both],
    ["", message("logging/setLevel", { level: "info" }), session],
    ["", message("initialize", { ...opening, protocolVersion: "2024-10-07" }), both],
    ["", message("initialize", { ...opening, capabilities: { experimental: { x: "y".repeat(3000) } } }), both],
    ["", message("tools/list", modernParams), { ...modern, "mcp-method": "prompts/list" }],
    ["", message("tools/list", modernParams), { ...modern, "mcp-protocol-version": "2025-11-25" }],
    ["", message("tools/list", {}), modern],
  ];
  for (const [at, [query, body, headers]] of odd.entries()) {
    server.received.length = 0;
    await (await postTo(new URL(server.url.href + query), body, headers)).text();
    expect([at, server.received.length]).toEqual([at, 1]);
  }
});

test("GW-12 after a rollout a session that was opened asleep is 404, so that the client reads the new lists", async () => {
  const server = await deployAsleep(rig, createMcpListener());
  const session = await openSession(server);
  const deploymentId = randomUUID();
  await insertDeployment(rig.database.pool, { ...server, deploymentId });
  await rig.database.pool.query("UPDATE route SET deployment_id = $1, sequence = 2 WHERE label = $2", [
    deploymentId,
    server.label,
  ]);
  await until(async () => (await postTo(server.url, message("tools/list"), session)).status === 404);
  expect(server.isStarted()).toBe(false);
});

test("GW-12 GW-6 a session opened asleep ends with the process that held it: 404, asleep or running, until the client opens another", async () => {
  // Like the harness, which opens a session at the server that was opened while it slept.
  const serve = createMcpListener();
  const listener: RequestListener = (request, response) =>
    String(request.headers["mcp-session-id"]).startsWith("towpath-")
      ? answerEmpty(request, response)
      : serve(request, response);
  const server = await deployAsleep(rig, listener);
  const call = message("tools/call", { name: "echo", arguments: { text: "x" } });
  const ask = async (body: string, session: Record<string, string>) => {
    const response = await postTo(server.url, body, session);
    return [response.status, ((await response.json()) as { error?: { code: number } }).error?.code];
  };
  const [used, unused] = [await openSession(server), await openSession(server)];
  expect((await postTo(server.url, call, used)).status).toBe(200);
  // The process dies, and its server is not running.
  await server.upstream.close();
  const [next, running] = [await startUnixServer(listener), rig.runner.servers.get(server.deploymentId)];
  if (!running) throw new Error("not deployed");
  rig.runner.servers.set(server.deploymentId, { ...running, instanceId: randomUUID(), endpoint: next.endpoint });
  expect(await ask(call, used)).toEqual([404, -32001]);
  // A session that no process has held is opened by the new one.
  expect((await postTo(server.url, call, unused)).status).toBe(200);
  expect(await ask(message("tools/list"), used)).toEqual([404, -32001]);
  expect((await postTo(server.url, call, await openSession(server))).status).toBe(200);
  await next.close();
});

test("GW-12 GW-3 a stream that is opened while the server sleeps stays open, wakes nothing, and goes to the server with the first call", async () => {
  const openings: string[] = [];
  const server = await deployAsleep(rig, (request, response) => {
    if (request.method !== "GET") return createMcpListener()(request, response);
    openings.push(String(request.headers["towpath-initialize"]));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
  });
  const session = await openSession(server);
  const gone = new AbortController();
  const stream = await fetch(server.url, {
    headers: { ...session, accept: "text/event-stream" },
    signal: gone.signal,
  });
  expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expect(stream.headers.get("mcp-session-id")).toBe(session["mcp-session-id"]);
  const reader = stream.body?.getReader();
  const first = reader?.read();
  // Nothing comes, and nothing starts.
  const quiet = Symbol();
  expect(await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 300, quiet))])).toBe(quiet);
  expect([server.isStarted(), openings]).toEqual([false, []]);
  await postTo(server.url, message("tools/call", { name: "echo", arguments: { text: "x" } }), session);
  expect(Buffer.from((await first)?.value ?? "").toString()).toContain("list_changed");
  expect(openings).toHaveLength(1);
  gone.abort();
  const metrics = async () => (await fetch(new URL("/-/metrics", server.url))).text();
  await until(async () => /^towpath_gateway_streams_held 0$/m.test(await metrics()));
});

test("GW-12 the end of a session wakes a frozen server, which may hold it, and not a stopped one", async () => {
  const server = await deployAsleep(rig, createMcpListener());
  const end = async () => {
    const session = await openSession(server);
    await fetch(server.url, { method: "DELETE", headers: session });
    return server.received.map(({ method }) => method);
  };
  expect([await end(), server.isStarted()]).toEqual([[], false]);
  sleepAlways(rig, server);
  const runner = createRunnerClient(rig.runner.address, { timeoutMs: 5000 });
  await runner.ensure(server.deploymentId);
  await runner.close();
  expect(await end()).toEqual(["DELETE"]);
});

test("GW-12 GW-10 without database and runner, lists of sleeping servers are answered from memory", async () => {
  const own = await createRig();
  const server = await deployAsleep(own, createMcpListener());
  const list = () => postTo(server.url, message("tools/list", modernParams), modernHeaders("tools/list"));
  expect((await list()).status).toBe(200);
  await own.runner.stop();
  await own.database.pool.query("ALTER TABLE recorded_answers RENAME TO hidden");
  expect((await answerOf(await list())).message.result.tools).toHaveLength(2);
  expect(server.received).toHaveLength(0);
  await own.close();
});

test("GW-12 a server without sessions is answered for without one, its notifications and streams too", async () => {
  const server = await deployAsleep(rig, (request, response) => {
    if (request.method === "GET") return void response.writeHead(405, { allow: "POST" }).end();
    request.resume();
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      if (id === undefined) return response.writeHead(202).end();
      const result = method === "initialize" ? { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: {} } : {};
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  const opened = await postTo(server.url, message("initialize", opening), both);
  expect([opened.status, opened.headers.get("mcp-session-id")]).toEqual([200, null]);
  const version = { ...both, "mcp-protocol-version": "2025-06-18" };
  const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect((await postTo(server.url, initialized, version)).status).toBe(202);
  expect((await fetch(server.url, { headers: { ...version, accept: "text/event-stream" } })).status).toBe(405);
  expect((await postTo(server.url, message("tools/list"), version)).status).toBe(200);
  expect(server.received).toHaveLength(0);
});
