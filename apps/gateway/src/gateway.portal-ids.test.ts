import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { dataOf, eventsIn } from "./portal/messages-in.ts";
import { addMember, connectModern, postTo, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { type DeployedServer, openRig } from "./testing/rig.ts";
import { createTaskListener } from "./testing/task-server.ts";

const rig = openRig();

const extension = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const accept = { accept: "application/json, text/event-stream" };

type Asked = { params: Record<string, unknown>; capabilities?: object; headers?: Record<string, string> };
type Answer = { status: number; text: string; result?: Record<string, unknown>; error?: { code: number } };

/** Posts a request of 2026-07-28. */
function post(url: URL, method: string, { params, capabilities = extension, headers = {} }: Asked): Promise<Response> {
  const name = String(params.name ?? params.taskId ?? "");
  return postTo(
    url,
    JSON.stringify({
      jsonrpc: "2.0",
      id: 3,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
      },
    }),
    { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name, ...accept, ...headers },
  );
}

async function ask(url: URL, method: string, asked: Asked): Promise<Answer> {
  const answer = await post(url, method, asked);
  const text = await answer.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { status: answer.status, text, ...JSON.parse(data) };
}

/** Opens a stream of notifications: `next` reads one message, `close` disconnects. */
async function listen(url: URL, notifications: object) {
  const answer = await post(url, "subscriptions/listen", { params: { notifications } });
  const events = eventsIn(Readable.fromWeb(answer.body as never));
  const next = async (): Promise<unknown> => {
    const { value, done } = await events.next();
    if (done) throw new Error("the stream ended");
    const data = dataOf(value);
    // Comments keep the connection open.
    return data === "" ? next() : JSON.parse(data);
  };
  return { next, close: () => events.return(undefined) };
}

async function taskPortal(authMode?: string) {
  const seen: string[] = [];
  const [server, other] = await Promise.all([rig.deploy(createTaskListener(seen)), rig.deploy(createMcpListener())]);
  await Promise.all([storeManifest(rig, server), storeManifest(rig, other)]);
  const members = [
    { server, prefix: "here" },
    { server: other, prefix: "there" },
  ];
  return { seen, server, other, members, portal: await addPortal(rig, members, authMode) };
}

/** Chooses which tools of a server the portal offers. */
async function offer(portalId: string, { projectId }: DeployedServer, tools: string[]): Promise<void> {
  const { pool } = rig.database;
  const chosen = [tools, projectId, portalId];
  await pool.query("UPDATE portal_server SET tools = $1 WHERE project_id = $2 AND portal_id = $3", chosen);
  await pool.query("UPDATE portal SET revision = revision + 1 WHERE id = $1", [portalId]);
}

test("ORG-3 GW-2 a client of 2026-07-28 reads, answers and cancels tasks of a portal's server, by ids of the portal's own", async () => {
  const { seen, portal } = await taskPortal();
  const discovered = await ask(portal.url, "server/discover", { params: {} });
  expect(discovered.result?.capabilities).toMatchObject(extension);
  const ids: string[] = [];
  for (const name of ["work", "stream"]) {
    const made = await ask(portal.url, "tools/call", { params: { name } });
    expect(made.result).toMatchObject({ resultType: "task", status: "input_required" });
    const taskId = String(made.result?.taskId);
    const waiting = await ask(portal.url, "tasks/get", { params: { taskId } });
    expect(waiting.result).toMatchObject({ resultType: "complete", taskId, status: "input_required" });
    ids.push(taskId);
  }
  const [taskId = "", second = ""] = ids;
  await ask(portal.url, "tasks/update", { params: { taskId, inputResponses: { name: "Ada" } } });
  const done = await ask(portal.url, "tasks/get", { params: { taskId } });
  expect(done.result).toMatchObject({ taskId, status: "completed" });
  expect(done.text).toContain("Ada");
  // As the server wrote it, not as JavaScript rounds it.
  expect(done.text).toContain('"number":12345678901234567890');
  await ask(portal.url, "tasks/cancel", { params: { taskId: second } });
  const ended = await ask(portal.url, "tasks/get", { params: { taskId: second } });
  expect(ended.result).toMatchObject({ taskId: second, status: "cancelled" });
  for (const own of seen) expect(ids).not.toContain(own);
});

test("ORG-3 GW-15 a task's id is worthless when forged, at another portal, to another caller, and once its tool is gone", async () => {
  const { seen, server, members, portal } = await taskPortal("towpath-cloud");
  const { organizationId, url } = portal;
  const [one, two] = await Promise.all(
    ["admin", "member"].map(async (role) => {
      const userId = await addMember(rig, organizationId, { role });
      return (await storeApiKey(rig, organizationId, { userId })).bearer;
    }),
  );
  const open = await addPortal(rig, members);
  await expect
    .poll(async () => (await ask(url, "tools/list", { params: {}, headers: two ?? {} })).status, { timeout: 20_000 })
    .toBe(200);
  const headers = one ?? {};
  const made = await ask(url, "tools/call", { params: { name: "work" }, headers });
  const taskId = String(made.result?.taskId);
  const get = (at: URL, id: string, bearer = headers) =>
    ask(at, "tasks/get", { params: { taskId: id }, headers: bearer });
  expect((await get(url, taskId)).result).toMatchObject({ taskId });
  const [own = ""] = seen;
  const forged = Buffer.from(JSON.stringify([server.projectId, "work", own])).toString("base64url");
  const [, payload = "", mac = ""] = taskId.split(".");
  for (const id of [own, "abc", `t1.${forged}.${"a".repeat(43)}`, `r1.${payload}.${mac}`, `${taskId}x`])
    expect(await get(url, id)).toMatchObject({ error: { code: -32602 } });
  expect(await get(url, taskId, two ?? {})).toMatchObject({ error: { code: -32602 } });
  expect(await get(open.url, taskId, {})).toMatchObject({ error: { code: -32602 } });
  const undeclared = await ask(url, "tasks/get", { params: { taskId }, capabilities: {}, headers });
  expect(undeclared).toMatchObject({ status: 400, error: { code: -32021, data: { requiredCapabilities: extension } } });
  const mismatched = await ask(url, "tasks/get", { params: { taskId }, headers: { ...headers, "mcp-name": "other" } });
  expect(mismatched).toMatchObject({ status: 400, error: { code: -32020 } });
  expect(seen).toHaveLength(1);
  await offer(portal.portalId, server, ["stream"]);
  await expect.poll(async () => (await get(url, taskId)).error?.code, { timeout: 20_000 }).toBe(-32602);
});

test("ORG-3 GW-2 a portal declines notifications about tasks by leaving them out of its acknowledgement, as the SDK does", async () => {
  const { server, other, portal } = await taskPortal();
  const made = await ask(portal.url, "tools/call", { params: { name: "work" } });
  const taskId = String(made.result?.taskId);
  const notifications = { taskIds: [taskId], toolsListChanged: true };
  const [stream, only, bare] = await Promise.all([
    listen(portal.url, notifications),
    listen(portal.url, { taskIds: [taskId] }),
    listen(other.url, notifications),
  ]);
  const acknowledged = (accepted: object) => ({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: accepted, _meta: { "io.modelcontextprotocol/subscriptionId": 3 } },
  });
  expect(await stream.next()).toEqual(acknowledged({ toolsListChanged: true }));
  expect(await bare.next()).toEqual(acknowledged({ toolsListChanged: true }));
  expect(await only.next()).toEqual(acknowledged({}));
  const undeclared = await ask(portal.url, "subscriptions/listen", { params: { notifications }, capabilities: {} });
  expect(undeclared).toMatchObject({ status: 400, error: { code: -32021, data: { requiredCapabilities: extension } } });
  const nothing = await ask(portal.url, "subscriptions/listen", { params: {} });
  expect(nothing).toMatchObject({ error: { code: -32602, message: "params.notifications is missing." } });
  await ask(portal.url, "tasks/update", { params: { taskId, inputResponses: {} } });
  const done = await ask(portal.url, "tasks/get", { params: { taskId } });
  expect(done.result).toMatchObject({ taskId, status: "completed" });
  // The first message after the acknowledgement: nothing about the task came before it.
  await offer(portal.portalId, server, ["work"]);
  expect(await stream.next()).toMatchObject({ method: "notifications/tools/list_changed" });
  await Promise.all([stream, only, bare].map(({ close }) => close()));
});

/** Opens a session of 2025-11-25 for a client with roots; answers to its requests are the caller's to give. */
async function openSession(url: URL) {
  const capabilities = { roots: {} };
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } };
  const opened = await postTo(url, JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }), accept);
  await opened.text();
  const headers = {
    ...accept,
    "mcp-protocol-version": "2025-11-25",
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
  };
  return (message: object, more: Record<string, string> = {}, signal?: AbortSignal) =>
    postTo(url, JSON.stringify({ jsonrpc: "2.0", ...message }), { ...headers, ...more }, signal);
}

test("ORG-3 GW-6 an answer to a request that the portal didn't make in this session is refused, and reaches no server; a client that disconnects meanwhile is recorded as such", async () => {
  const asking = createMcpListener({ asksRoots: true });
  const held = Promise.withResolvers<void>();
  let reached = 0;
  const server = await rig.deploy((request, response) => {
    reached += 1;
    if (request.headers["user-agent"] !== "impatient") return asking(request, response);
    request.resume();
    held.resolve();
  });
  await storeManifest(rig, server);
  const portal = await addPortal(rig, [{ server, prefix: "here" }]);
  const [own, foreign] = await Promise.all([openSession(portal.url), openSession(portal.url)]);
  const params = { name: "roots", arguments: { text: "" } };
  const call = await own({ id: 1, method: "tools/call", params });
  const reader = call.body?.pipeThrough(new TextDecoderStream()).getReader();
  let read = "";
  const readUntil = async (pattern: RegExp) => {
    for (;;) {
      const found = pattern.exec(read)?.[1];
      if (found !== undefined) return found;
      const piece = await reader?.read();
      if (!piece || piece.done) throw new Error(`The answer ended: ${read}`);
      read += piece.value;
    }
  };
  const id = await readUntil(/"roots\/list".*"id":"([^"]+)"|"id":"([^"]+)".*"roots\/list"/);
  const before = reached;
  const madeUp = Buffer.from(JSON.stringify({ projectId: server.projectId, id: 0 })).toString("base64url");
  const answered = { result: { roots: [] } };
  for (const [respond, made] of [
    [own, `towpath:${madeUp}`],
    [own, `r1.${madeUp}.${"a".repeat(43)}`],
    [own, "1"],
    [own, `${id}x`],
    [foreign, id],
  ] as const) {
    const refused = await respond({ id: made, ...answered });
    expect([refused.status, await refused.json()]).toMatchObject([400, { id: null, error: { code: -32600 } }]);
  }
  expect(reached).toBe(before);
  const leaving = new AbortController();
  const left = own({ id, ...answered }, { "user-agent": "impatient" }, leaving.signal).catch(() => "left");
  await held.promise;
  leaving.abort();
  expect(await left).toBe("left");
  await expect
    .poll(async () => (await rig.rows(portal.projectId, 1)).filter(({ httpStatus }) => httpStatus === 499))
    .toMatchObject([{ kind: "response", outcome: "closed_by_client", isError: false }]);
  expect((await own({ id, ...answered })).status).toBe(202);
  expect(await readUntil(/"text":"(\d+)"/)).toBe("0");
});

test("ORG-3 GW-2 behind a portal of one server that offers everything, that server answers for names that aren't listed", async () => {
  const server = await rig.deploy(createMcpListener());
  await storeManifest(rig, server);
  const [all, chosen] = [
    await addPortal(rig, [{ server, prefix: "here" }]),
    await addPortal(rig, [{ server, prefix: "here", tools: ["echo"] }]),
  ];
  const answerOf = async (url: URL) => {
    const client = await connectModern(url);
    const answer = await client.callTool({ name: "nope", arguments: {} }).catch((error: Error) => error.message);
    await client.close();
    return answer;
  };
  expect(await answerOf(all.url)).toEqual(await answerOf(server.url));
  expect(await answerOf(chosen.url)).toMatch(/not found in this portal/);
});
