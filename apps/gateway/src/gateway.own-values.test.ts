import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { addMember, connectLegacy, connectModern, postTo, rpc, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";
import { deployAsleep, type SleepingServer } from "./testing/sleeping-server.ts";
import { setOwnValue, setPerCaller, setVariables } from "./testing/variables.ts";

const rig = openRig();
const find = (key: string) => rig.runner.servers.get(key);
afterEach(() => {
  rig.runner.lookUp = find;
});

const keyName = "API_TOKEN";

/** Callers' own instances run at the server's socket; those of whom it names have no values. */
function serveCallers(server: DeployedServer, withoutValues: ReadonlySet<string> = new Set()): void {
  const failure = { code: "values_missing", message: keyName } as const;
  rig.runner.lookUp = (key) => {
    const [deploymentId, userId = ""] = key.split("_");
    if (deploymentId !== server.deploymentId || userId === "") return find(key);
    const { endpoint } = server.upstream;
    return { instanceId: `instance-of-${userId}`, endpoint, ...(withoutValues.has(userId) && { failure }) };
  };
}

/** A server whose variable is per caller, and a person who may call it. */
async function deployed(): Promise<{ server: SleepingServer; userId: string; bearer: Record<string, string> }> {
  const server = await deployAsleep(rig, createMcpListener(), {
    authMode: "towpath-cloud",
    capturePayloads: true,
    choice: "off",
  });
  await setVariables(rig.database, server, { [keyName]: "of-the-build" });
  await setPerCaller(rig.database, server);
  const userId = await addMember(rig, server.organizationId);
  const { bearer } = await storeApiKey(rig, server.organizationId, { userId });
  // A call would be served by everybody's server until the route has loaded.
  await until(async () => (await (await postTo(server.url, rpc(), bearer)).text()).includes('"towpath"'));
  server.received.length = 0;
  return { server, userId, bearer };
}

const echo = { name: "echo", arguments: { text: "hello" } };
const address = ({ projectId }: DeployedServer) => `${rig.config.issuer}/my-values/${projectId}`;

test("CAP-1 without a value, handshakes and lists are answered as recorded, and a call says where to enter it", async () => {
  const { server, userId, bearer } = await deployed();
  serveCallers(server, new Set([userId]));
  const { client } = await connectLegacy(server.url, bearer);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  const result = await client.callTool(echo);
  expect(result).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringContaining(address(server)) }],
  });
  const modern = await connectModern(server.url, bearer);
  expect(await modern.callTool(echo)).toMatchObject({ isError: true });
  await expect(client.readResource({ uri: "text://motd" })).rejects.toThrow(address(server));
  const rowOfEcho = async () => (await rig.rows(server.projectId, 1)).find(({ target }) => target === "echo");
  await expect.poll(rowOfEcho).toMatchObject({ refusal: "values_needed" });
  expect(server.received).toEqual([]);
});

test("CAP-1 a client that can open addresses is asked by URL-mode elicitation", async () => {
  const { server, userId, bearer } = await deployed();
  serveCallers(server, new Set([userId]));
  const both = { ...bearer, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: { form: {}, url: {} } },
    clientInfo: { name: "able", version: "1" },
  };
  const opened = await postTo(
    server.url,
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
    both,
  );
  const session = { ...both, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: echo });
  const response = await postTo(server.url, body, { ...session, "mcp-protocol-version": "2025-11-25" });
  expect(await response.json()).toMatchObject({
    id: 2,
    error: {
      code: -32042,
      data: { elicitations: [{ mode: "url", url: address(server), elicitationId: expect.any(String) }] },
    },
  });
});

test("CAP-1 a client of 2026-07-28 that can open addresses is asked to, and its call goes on once the value is there", async () => {
  const { server, userId, bearer } = await deployed();
  const withoutValues = new Set([userId]);
  serveCallers(server, withoutValues);
  const opened: string[] = [];
  let enter = async () => {};
  const client = await connectModern(server.url, bearer, {
    opens: async (url) => {
      opened.push(url);
      await enter();
      return "accept";
    },
  });
  // The address is open, and the value comes while the repeated call waits.
  enter = async () => {
    setTimeout(async () => {
      withoutValues.clear();
      await setOwnValue(rig.database, server, { userId, keyName, value: "own-token-4b70" });
    }, 300).unref();
  };
  expect(await client.callTool(echo)).toMatchObject({ content: [{ text: "hello" }] });
  expect(opened).toEqual([address(server)]);
  expect(server.received).toHaveLength(1);
  const refusals = async () => (await rig.rows(server.projectId, 2)).map(({ refusal }) => refusal);
  await expect.poll(refusals).toContain("values_needed");
});

test("CAP-1 of 2026-07-28, only a client that declares addresses is asked, once a call; servers see no answer but to their own questions", async () => {
  const { server, userId, bearer } = await deployed();
  const withoutValues = new Set([userId]);
  serveCallers(server, withoutValues);
  const send = async (elicitation: object | undefined, more: object = {}, method = "tools/call", name = "echo") => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": elicitation === undefined ? {} : { elicitation },
    };
    const target = method === "resources/read" ? { uri: name } : echo;
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name };
    const accept = "application/json, text/event-stream";
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...target, ...more, _meta } });
    const text = await (await postTo(server.url, body, { ...bearer, ...headers, accept })).text();
    return JSON.parse(text.split("data: ").at(-1) ?? "") as { result?: { resultType: string }; error?: object };
  };
  const question = { mode: "url", url: address(server), message: "Enter your own API_TOKEN." };
  const asks = {
    resultType: "input_required",
    inputRequests: { "towpath.own_values": { method: "elicitation/create", params: question } },
  };
  expect((await send({ url: {} })).result).toEqual(asks);
  expect((await send({ form: {}, url: {} }, {}, "resources/read", "text://motd")).result).toEqual(asks);
  const inText = {
    resultType: "complete",
    isError: true,
    content: [{ text: expect.stringContaining(address(server)) }],
  };
  for (const other of [undefined, {}, { form: {} }]) expect((await send(other)).result).toMatchObject(inText);
  const answered = (action: string, more: object = {}) => ({
    inputResponses: { "towpath.own_values": { action }, ...more },
  });
  // Who declines isn't asked again, nor made to wait.
  expect((await send({ url: {} }, answered("decline"))).result).toMatchObject(inText);
  expect(server.received).toEqual([]);

  withoutValues.clear();
  await setOwnValue(rig.database, server, { userId, keyName, value: "own-token-9c20" });
  expect((await send({ url: {} }, answered("accept"))).result).toMatchObject({ content: [{ text: "hello" }] });
  const seats = { action: "accept", content: { seats: 2 } };
  expect((await send({ url: {} }, answered("accept", { seats }))).result).toMatchObject({
    content: [{ text: `hello ${JSON.stringify({ seats })}` }],
  });
});

test("CAP-1 calls of two people never reach each other's instance, and rows have neither's value", async () => {
  const { server, userId, bearer } = await deployed();
  const other = await addMember(rig, server.organizationId);
  const otherKey = await storeApiKey(rig, server.organizationId, { userId: other });
  await setOwnValue(rig.database, server, { userId, keyName, value: "first-own-token-9f3a" });
  await setOwnValue(rig.database, server, { userId: other, keyName, value: "second-own-token-77c1" });
  serveCallers(server);
  const [first, second] = [await connectModern(server.url, bearer), await connectModern(server.url, otherKey.bearer)];
  const text = "first-own-token-9f3a and second-own-token-77c1";
  await Promise.all(
    [first, second].flatMap((client) =>
      Array.from({ length: 20 }, () => client.callTool({ ...echo, arguments: { text } })),
    ),
  );
  const called = "SELECT FROM request_log WHERE project_id = $1 AND target = 'echo' AND instance_id IS NOT NULL";
  await until(async () => (await rig.database.pool.query(called, [server.projectId])).rowCount === 40);
  const { rows } = await rig.database.pool.query(
    "SELECT principal, instance_id, coalesce(request_payload::text, '') || coalesce(response_payload::text, '') AS kept FROM request_log WHERE project_id = $1 AND target = 'echo' AND instance_id IS NOT NULL",
    [server.projectId],
  );
  expect(rows.length).toBeGreaterThanOrEqual(40);
  for (const row of rows) expect(row.principal).toBe(`user:${row.instance_id.replace("instance-of-", "")}`);
  const of = (id: string) => rows.filter(({ principal }) => principal === `user:${id}`);
  expect(JSON.stringify(of(userId))).toContain("second-own-token");
  expect(JSON.stringify(of(userId))).not.toContain("first-own-token");
  expect(JSON.stringify(of(other))).not.toContain("second-own-token");
});

test("CAP-1 KEY-4 a call that is refused before it has a server is logged without its caller's value, also at first", async () => {
  const { server } = await deployed();
  // Somebody whose values no gateway has read before.
  const userId = await addMember(rig, server.organizationId);
  const { bearer } = await storeApiKey(rig, server.organizationId, { userId });
  const value = "own-token-of-a-refused-call-81d2";
  await setOwnValue(rig.database, server, { userId, keyName, value });
  serveCallers(server);
  const params = { name: "echo", arguments: { text: value } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const kept = `SELECT request_payload::text AS payload FROM request_log
    WHERE project_id = $1 AND refusal = 'session_not_found'`;
  const payloads = async () => JSON.stringify((await rig.database.pool.query(kept, [server.projectId])).rows);
  // Until its values are known a payload is withheld whole.
  await until(async () => {
    await postTo(server.url, body, { ...bearer, "mcp-session-id": "nobody's" });
    return (await payloads()).includes(`[${keyName}]`);
  });
  expect(await payloads()).not.toContain("refused-call");
});

test.runIf(isThorough)("CAP-1 KEY-4 a replaced value is removed from the row of the next call", async () => {
  const { server, userId, bearer } = await deployed();
  await setOwnValue(rig.database, server, { userId, keyName, value: "the-earlier-token-10aa" });
  serveCallers(server);
  const client = await connectModern(server.url, bearer);
  await client.callTool(echo);
  await rig.database.pool.query("DELETE FROM caller_value WHERE user_id = $1", [userId]);
  await setOwnValue(rig.database, server, { userId, keyName, value: "the-later-token-77bb" });
  await client.callTool({ ...echo, arguments: { text: "the-later-token-77bb" } });
  const kept = `SELECT request_payload::text AS payload FROM request_log
    WHERE project_id = $1 AND target = 'echo' AND instance_id IS NOT NULL`;
  await until(async () => (await rig.database.pool.query(kept, [server.projectId])).rowCount === 2);
  expect(JSON.stringify((await rig.database.pool.query(kept, [server.projectId])).rows)).not.toContain("the-later");
});

test("CAP-1 once a value has changed, the runner is asked before the next call", async () => {
  const { server, userId, bearer } = await deployed();
  await setOwnValue(rig.database, server, { userId, keyName, value: "own-token-5511" });
  const withoutValues = new Set<string>();
  serveCallers(server, withoutValues);
  const client = await connectModern(server.url, bearer);
  expect((await client.callTool(echo)).isError).toBeFalsy();
  withoutValues.add(userId);
  await rig.database.pool.query("DELETE FROM caller_value WHERE user_id = $1", [userId]);
  await until(async () => (await client.callTool(echo)).isError === true, 1000);
});

test("CAP-1 a value that is deleted while the server starts for a call serves neither that nor a later one", async () => {
  const { server, userId, bearer } = await deployed();
  await setOwnValue(rig.database, server, { userId, keyName, value: "own-token-7a11" });
  const withoutValues = new Set<string>();
  serveCallers(server, withoutValues);
  const client = await connectModern(server.url, bearer);
  const lookUp = rig.runner.lookUp;
  const asked = Promise.withResolvers<void>();
  let isFirst = true;
  rig.runner.lookUp = async (key) => {
    const found = await lookUp(key);
    if (!found || !isFirst || !key.includes(userId)) return found;
    isFirst = false;
    asked.resolve();
    return { ...found, startMs: 3000 };
  };
  const first = client.callTool(echo);
  await asked.promise;
  withoutValues.add(userId);
  await rig.database.pool.query("DELETE FROM caller_value WHERE user_id = $1", [userId]);
  await until(async () => (await client.callTool(echo)).isError === true, 1000);
  expect((await first).isError).toBe(true);
  expect(server.received).toEqual([]);
});

test("CAP-1 who is no person learns that, at open servers too, and never served by the owner's value", async () => {
  const { server } = await deployed();
  serveCallers(server);
  const { bearer } = await storeApiKey(rig, server.organizationId);
  expect(await (await postTo(server.url, rpc(), bearer)).text()).toContain("Sign in as a person");
  await rig.database.pool.query("UPDATE project SET auth_mode = 'towpath-public' WHERE id = $1", [server.projectId]);
  await until(async () => (await postTo(server.url)).status === 200);
  expect(await (await postTo(server.url)).text()).toContain("lets everybody in without a sign-in");
  expect(server.received).toEqual([]);
});

test.runIf(isThorough)("CAP-1 a portal passes the address on, and calls with the caller's own value", async () => {
  const { server, userId, bearer } = await deployed();
  const withoutValues = new Set([userId]);
  serveCallers(server, withoutValues);
  await storeManifest(rig, server, bearer);
  const portal = await addPortal(rig, [{ server, prefix: "here" }], "towpath-cloud");
  // Without credentials, a portal that isn't known yet looks like one that is.
  await until(async () => (await postTo(portal.url, rpc(), bearer)).status !== 404);
  const client = await connectModern(portal.url, bearer);
  await until(async () => (await client.listTools()).tools.length > 0);
  const call = () => client.callTool({ name: "echo", arguments: { text: "x" } });
  expect(JSON.stringify(await call())).toContain(address(server));
  const opened: string[] = [];
  const opens = async (url: string) => {
    opened.push(url);
    return "decline" as const;
  };
  const able = await connectModern(portal.url, bearer, { opens });
  expect(await able.callTool(echo)).toMatchObject({ isError: true });
  expect(opened).toEqual([address(server)]);
  withoutValues.clear();
  await setOwnValue(rig.database, server, { userId, keyName, value: `own-${randomUUID()}` });
  await until(async () => (await call()).isError !== true);
});
