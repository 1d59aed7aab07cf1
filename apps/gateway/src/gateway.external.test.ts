import type { RequestListener } from "node:http";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { addMember, answerEmpty, connectLegacy, connectModern, postTo, storeApiKey } from "./testing/clients.ts";
import { addExternal, type Elsewhere, startElsewhere } from "./testing/external-server.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { openRig, type Rig, setAccess, setLimits, until } from "./testing/rig.ts";
import { connectAnswering, createTask } from "./testing/task-client.ts";
import { createTasklessServer } from "./testing/taskless-server.ts";

const rig = openRig({ TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8", TOWPATH_EXTERNAL_TIMEOUT_MS: "1000" });
const running: Elsewhere[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function elsewhere(handle: RequestListener): Promise<Elsewhere> {
  const server = await startElsewhere(handle);
  running.push(server);
  return server;
}

/** A listener that records its requests. */
function recording(handle: RequestListener = answerEmpty) {
  const seen: { url: string | undefined; headers: Record<string, unknown>; raw: string[] }[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push({ url: request.url, headers: request.headers, raw: request.rawHeaders });
    handle(request, response);
  };
  return { seen, listener };
}

const refusalOf = async (answer: Response) => {
  const body = (await answer.json()) as { error: { message: string; data: { towpath: string } } };
  return { status: answer.status, code: body.error.data.towpath, message: body.error.message };
};

test("ORG-9 GW-2 clients of both eras use an external server at the usual address; calls are logged", async () => {
  const sessions: string[] = [];
  const { seen, listener } = recording(createMcpListener({ onSession: (id) => sessions.push(id) }));
  const { url } = await elsewhere(listener);
  const server = await addExternal(rig, url);
  const modern = await connectModern(server.url);
  expect(await modern.callTool({ name: "echo", arguments: { text: "hi" } })).toMatchObject({
    content: [{ text: "hi" }],
  });
  await modern.close();
  const { client, transport } = await connectLegacy(server.url);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  expect(await client.callTool({ name: "echo", arguments: { text: "again" } })).toMatchObject({
    content: [{ text: "again" }],
  });
  // The id that the client has is ours; the server sees its own.
  expect(transport.sessionId).not.toBe(sessions[0]);
  expect(new Set(seen.map(({ headers }) => headers["mcp-session-id"]).filter(Boolean))).toEqual(new Set(sessions));
  await client.close();
  expect(new Set(seen.map((request) => request.url))).toEqual(new Set(["/base/mcp?v=2"]));
  let call: Awaited<ReturnType<Rig["rows"]>>[number] | undefined;
  await until(async () => {
    const rows = await rig.rows(server.projectId, 5);
    call = rows.find(({ tool, session }) => tool === "echo" && session !== null);
    return call !== undefined;
  });
  expect(call).toMatchObject({
    deploymentId: null,
    outcome: "ok",
    clientName: "test-client",
    protocolVersion: "2025-11-25",
  });
  expect(call?.serverMs).toBeGreaterThan(0);
});

test("ORG-9 GW-6 a session is its principal's, and good only at the address where it began", async () => {
  const listener = createMcpListener();
  const [first, second] = [await elsewhere(listener), await elsewhere(listener)];
  const server = await addExternal(rig, first.url, { authMode: "towpath-cloud" });
  const [mine, theirs] = [await storeApiKey(rig, server.organizationId), await storeApiKey(rig, server.organizationId)];
  const { transport } = await connectLegacy(server.url, mine.bearer);
  const list = async (bearer: Record<string, string>) => {
    const answer = await postTo(server.url, '{"jsonrpc":"2.0","id":7,"method":"tools/list"}', {
      ...bearer,
      accept: "application/json, text/event-stream",
      "mcp-session-id": transport.sessionId ?? "",
    });
    await answer.body?.cancel();
    return answer.status;
  };
  expect([await list(mine.bearer), await list(theirs.bearer)]).toEqual([200, 404]);
  await rig.database.pool.query("UPDATE external_server SET url = $2 WHERE project_id = $1", [
    server.projectId,
    second.url,
  ]);
  await until(async () => (await list(mine.bearer)) === 404);
});

test("ORG-9 GW-11 the credential goes to the server, the client's own never; the caller is named in its headers", async () => {
  const { seen, listener } = recording();
  const { url, port } = await elsewhere(listener);
  const credential = { header: "authorization", value: "Bearer upstream-token-1" };
  const server = await addExternal(rig, url, { authMode: "towpath-cloud", credential, capturePayloads: true });
  const userId = await addMember(rig, server.organizationId, { email: "ada@example.com" });
  const { bearer } = await storeApiKey(rig, server.organizationId, { userId });
  const sent = {
    ...bearer,
    cookie: "a=1",
    origin: "http://localhost:5173",
    referer: "http://localhost/x",
    "x-tenant": "kept",
    "x-forwarded-for": "1.2.3.4",
    "towpath-actor": "root",
    "mcp-protocol-version": "2025-11-25",
  };
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"k":"upstream-token-1"}}}`;
  expect((await postTo(server.url, body, sent)).status).toBe(200);
  const [{ headers, raw } = { headers: {}, raw: [] }] = seen;
  expect(headers).toMatchObject({
    authorization: credential.value,
    host: `127.0.0.1:${port}`,
    "x-tenant": "kept",
    "mcp-protocol-version": "2025-11-25",
    "towpath-actor-email": "ada@example.com",
  });
  for (const name of ["cookie", "origin", "referer", "x-forwarded-for", "x-forwarded-host"])
    expect(headers).not.toHaveProperty(name);
  expect(raw.filter((name) => name.toLowerCase() === "authorization")).toHaveLength(1);
  expect(JSON.stringify(raw)).not.toContain(bearer.authorization);
  // KEY-4: what the log keeps of it is its name.
  const [row] = await rig.rows(server.projectId, 1);
  expect(JSON.stringify(row)).not.toContain("upstream-token-1");
  const { rows } = await rig.database.pool.query(
    "SELECT actor FROM audit_log WHERE project_id = $1 AND action = 'externalServer.decrypt'",
    [server.projectId],
  );
  expect(rows).toEqual([{ actor: "job:gateway" }]);
  // Open to anyone: a client's Authorization header is not forwarded.
  seen.length = 0;
  const open = await addExternal(rig, url);
  await postTo(open.url, body, { authorization: "Bearer of-the-client" });
  expect(seen[0]?.headers).not.toHaveProperty("authorization");
});

test("ORG-9 KEY-2 a credential that was sealed for another origin is not opened, and nothing is sent", async () => {
  const { seen, listener } = recording();
  const { url } = await elsewhere(listener);
  const credential = { header: "x-key", value: "k-123456" };
  const server = await addExternal(rig, url, { credential, sealedFor: "https://weather.example/mcp" });
  expect((await postTo(server.url)).status).toBe(502);
  expect(seen).toEqual([]);
});

test("ORG-9 headers that concern the server's own host don't reach the client", async () => {
  const { url } = await elsewhere((request, response) => {
    response.setHeader("set-cookie", "id=1");
    response.setHeader("access-control-allow-origin", "https://evil.example");
    response.setHeader("strict-transport-security", "max-age=1");
    response.setHeader("mcp-x", "kept");
    answerEmpty(request, response);
  });
  const server = await addExternal(rig, url);
  const { headers } = await postTo(server.url, undefined, { origin: "http://localhost:5173" });
  expect(headers.get("mcp-x")).toBe("kept");
  expect(headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
  for (const name of ["set-cookie", "strict-transport-security"]) expect(headers.has(name)).toBe(false);
});

test("ORG-9 GW-13 a server that is down, silent, disconnects, redirects or refuses: the answer says so, and there is a row", async () => {
  let redirected = 0;
  const target = await elsewhere((_request, response) => {
    redirected++;
    response.end();
  });
  const closed = await elsewhere(answerEmpty);
  await running.pop()?.close();
  const cases: [RequestListener | string, number, string, RegExp][] = [
    [closed.url, 502, "external_unreachable", /accepts no connections/],
    ["http://no-such-host.invalid/mcp", 502, "external_unreachable", /host name is not known/],
    [closed.url.replace("http:", "https:"), 502, "external_unreachable", /accepts no connections/],
    [() => {}, 504, "external_timeout", /did not start to answer/],
    [(request) => void request.socket.destroy(), 502, "external_unreachable", /may have carried the request out/],
    [
      (_request, response) => void response.writeHead(307, { location: target.url }).end(),
      502,
      "external_refused",
      /redirects/,
    ],
    [
      (_request, response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
      502,
      "external_refused",
      /credential/,
    ],
  ];
  for (const [handle, status, code, message] of cases) {
    const url = typeof handle === "string" ? handle : (await elsewhere(handle)).url;
    const server = await addExternal(rig, url);
    const answer = await postTo(server.url);
    expect(answer.headers.has("www-authenticate")).toBe(false);
    expect(await refusalOf(answer)).toEqual({ status, code, message: expect.stringMatching(message) });
    const [row] = await rig.rows(server.projectId, 1);
    expect(row).toMatchObject({ httpStatus: status, refusal: code, outcome: "gateway_error", tool: "t" });
  }
  expect(redirected).toBe(0);
  // Other failures pass through as the server sent them.
  const own = await elsewhere((_request, response) => void response.writeHead(400).end("era"));
  const answer = await postTo((await addExternal(rig, own.url)).url);
  expect([answer.status, await answer.text()]).toEqual([400, "era"]);
});

test("ORG-9 only the MCP endpoint is served; members, limits and allowed tools are as for hosted servers", async () => {
  const { seen, listener } = recording(createMcpListener());
  const { url } = await elsewhere(listener);
  const server = await addExternal(rig, url, { authMode: "towpath-cloud" });
  const { bearer } = await storeApiKey(rig, server.organizationId);
  expect((await postTo(server.url)).status).toBe(401);
  expect((await fetch(new URL(`/${server.label}/admin`, server.url), { headers: bearer })).status).toBe(404);
  expect(seen).toEqual([]);
  await setAccess(rig.database, server.projectId, { tools: ["echo"] });
  const names = async () => {
    const client = await connectModern(server.url, bearer);
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name).join();
  };
  await until(async () => (await names()) === "echo");
  const denied = await postTo(server.url, undefined, bearer);
  expect(await refusalOf(denied)).toMatchObject({ status: 200, code: "tool_not_allowed" });
  await setLimits(rig.database, server.projectId, { caller: { perMinute: 1, burst: 1 } });
  await until(async () => (await postTo(server.url, undefined, bearer)).status === 429);
});

test("ORG-9 CAP-2 the answer to a task of an external server may begin later than a client waits for one", async () => {
  const taskless = createTasklessServer();
  const { url } = await elsewhere(taskless.listener);
  const server = await addExternal(rig, url, { authMode: "towpath-cloud" });
  const client = await connectAnswering(server.url, (await storeApiKey(rig, server.organizationId)).bearer);
  const { taskId } = (await createTask(client, "work")).task;
  await until(() => taskless.runs.length === 1);
  await expect(client.callTool({ name: "work" })).rejects.toThrow(/did not answer|in time/);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  taskless.release();
  expect(await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: "run 1" }],
  });
  await client.close();
});

test.runIf(isThorough)(
  "ORG-9 without the operator's setting no private address is reached, also not by a name that turns private",
  async () => {
    const { seen, listener } = recording();
    const { url, port } = await elsewhere(listener);
    const [byAddress, byName] = [await addExternal(rig, url), await addExternal(rig, `http://localhost:${port}/mcp`)];
    expect((await postTo(byName.url)).status).toBe(200);
    seen.length = 0;
    await rig.restart({ externalNetworks: [] });
    for (const { label } of [byAddress, byName]) {
      const answer = await postTo(new URL(`http://127.0.0.1:${rig.gateway.port}/${label}/mcp`));
      expect(await refusalOf(answer)).toMatchObject({
        status: 502,
        message: expect.stringMatching(/doesn't connect to/),
      });
    }
    expect(seen).toEqual([]);
  },
);
