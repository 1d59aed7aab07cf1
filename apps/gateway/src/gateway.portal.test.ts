import { afterAll, beforeAll, expect, test } from "vitest";
import { addMember, connectLegacy, connectModern, postTo, storeApiKey } from "./testing/clients.ts";
import { addExternal, type Elsewhere, startElsewhere } from "./testing/external-server.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { type DeployedServer, openRig, setAccess, until } from "./testing/rig.ts";

const rig = openRig({ TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8" });
let elsewhere: Elsewhere;
beforeAll(async () => {
  elsewhere = await startElsewhere(createMcpListener());
});
afterAll(async () => {
  await elsewhere.close();
});

/** A hosted and an external server, both with `echo` and `fail`. */
async function twoServers(): Promise<{ hosted: DeployedServer; external: DeployedServer }> {
  const hosted = await rig.deploy(createMcpListener());
  const external = await addExternal(rig, elsewhere.url);
  await Promise.all([storeManifest(rig, hosted), storeManifest(rig, external)]);
  return { hosted, external };
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;

test("ORG-3 clients of both eras see the tools of a hosted and an external server, and call them; each has its row", async () => {
  const { hosted, external } = await twoServers();
  const portal = await addPortal(rig, [
    { server: hosted, prefix: "here" },
    { server: external, prefix: "there", tools: ["echo"] },
  ]);
  const names = ["here_echo", "fail", "there_echo"];
  const modern = await connectModern(portal.url);
  expect((await modern.listTools()).tools.map(({ name }) => name)).toEqual(names);
  expect(textOf(await modern.callTool({ name: "here_echo", arguments: { text: "a" } }))).toBe("a");
  expect(textOf(await modern.callTool({ name: "there_echo", arguments: { text: "b" } }))).toBe("b");
  await expect(modern.callTool({ name: "echo", arguments: { text: "x" } })).rejects.toThrow(/not found in this portal/);
  await modern.close();
  const { client, transport } = await connectLegacy(portal.url);
  expect(client.getInstructions()).toBe("Use them well.");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
  expect(textOf(await client.callTool({ name: "here_echo", arguments: { text: "c" } }))).toBe("c");
  expect(textOf(await client.callTool({ name: "there_echo", arguments: { text: "d" } }))).toBe("d");
  expect(await client.callTool({ name: "fail", arguments: { text: "e" } })).toMatchObject({ isError: true });
  await transport.terminateSession();
  await client.close();
  for (const server of [hosted, external]) {
    await until(async () => {
      const rows = (await rig.rows(server.projectId, 3)).filter(({ tool }) => tool === "echo");
      return rows.length >= 2 && rows.every(({ clientName }) => clientName === `test-client via ${portal.label}`);
    });
  }
  const own = await rig.rows(portal.projectId, 6);
  expect(own.some(({ tool, outcome }) => tool === "here_echo" && outcome === "ok")).toBe(true);
});

test("ORG-3 GW-15 a portal neither lists nor calls anything that its caller couldn't reach directly", async () => {
  const { hosted, external } = await twoServers();
  const portal = await addPortal(
    rig,
    [
      { server: hosted, prefix: "here" },
      { server: external, prefix: "there" },
    ],
    "towpath-cloud",
  );
  const { organizationId } = portal;
  await rig.database.pool.query("UPDATE project SET auth_mode = 'towpath-cloud' WHERE id = $1", [hosted.projectId]);
  await setAccess(rig.database, hosted.projectId, { roles: ["admin"], tools: ["echo"] });
  const [admin, member] = await Promise.all(
    ["admin", "member"].map((role) => addMember(rig, organizationId, { role })),
  );
  const [adminKey, memberKey] = await Promise.all(
    [admin, member].map((userId) => storeApiKey(rig, organizationId, { userId: userId ?? "" })),
  );
  const bound = await storeApiKey(rig, organizationId, { userId: admin ?? "", projectIds: [portal.projectId] });
  const seen = async (bearer: Record<string, string>) => {
    const client = await connectModern(portal.url, bearer);
    const { tools } = await client.listTools();
    const called = await client
      .callTool({ name: "here_echo", arguments: { text: "hi" } })
      .then(textOf, () => "refused");
    await client.close();
    return [tools.map(({ name }) => name).join(), called];
  };
  const all = ["here_echo,there_echo,there_fail", "hi"];
  // A name that the gateway doesn't know yet refuses credentials too.
  const becomes = (bearer: Record<string, string>) =>
    expect.poll(() => seen(bearer).catch(String), { timeout: 20_000 });
  await becomes(adminKey?.bearer ?? {}).toEqual(all);
  const reduced = ["there_echo,there_fail", "refused"];
  await becomes(memberKey?.bearer ?? {}).toEqual(reduced);
  // A key for the portal alone is none for its servers that ask for members.
  await becomes(bound.bearer).toEqual(reduced);
});

test("ORG-3 a server that is down stays listed, and calls name it; clients are notified when lists change", async () => {
  const { hosted, external } = await twoServers();
  const portal = await addPortal(rig, [
    { server: hosted, prefix: "here", tools: ["echo"] },
    { server: external, prefix: "there", tools: ["fail"] },
  ]);
  const { client } = await connectLegacy(portal.url);
  let changes = 0;
  const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  await rig.database.pool.query("UPDATE external_server SET url = 'http://127.0.0.1:1/mcp' WHERE project_id = $1", [
    external.projectId,
  ]);
  await until(async () => {
    const failed = await client.callTool({ name: "fail", arguments: { text: "x" } }).then(
      () => "",
      (error: Error) => error.message,
    );
    return failed.includes(`The server ${external.label} of this portal can't be used now`);
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "fail"]);
  await rig.database.pool.query("UPDATE portal_server SET tools = '{echo,fail}' WHERE project_id = $1", [
    hosted.projectId,
  ]);
  await rig.database.pool.query("UPDATE portal SET revision = revision + 1 WHERE id = $1", [portal.portalId]);
  await until(() => changes > 0);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "here_fail", "there_fail"]);
  await client.close();
});

/** Methods and outcomes of a server's rows, oldest first. */
async function logOf({ projectId }: DeployedServer, count: number): Promise<string[]> {
  const rows = await rig.rows(projectId, count);
  return rows.reverse().map(({ httpMethod, method, outcome }) => `${method ?? httpMethod} ${outcome}`);
}

test("ORG-3 GW-3 a canceled call ends at the server, and so do the sessions of a client that ends its own", async () => {
  let waiting = 0;
  const sessions: string[] = [];
  const listener = createMcpListener({ onWait: () => void waiting++, onSession: (id) => void sessions.push(id) });
  const server = await rig.deploy(listener);
  await storeManifest(rig, server);
  const portal = await addPortal(rig, [{ server, prefix: "here" }]);
  const { client, transport } = await connectLegacy(portal.url);
  const [leaves, cancels] = [new AbortController(), new AbortController()];
  const wait = { name: "wait", arguments: { text: "" } };
  const canceled = client.callTool(wait, undefined, { signal: cancels.signal }).catch(() => "canceled");
  await until(() => waiting === 1);
  cancels.abort();
  expect(await canceled).toBe("canceled");
  const modern = await connectModern(portal.url);
  const left = modern.callTool(wait, { signal: leaves.signal }).catch(() => "left");
  await until(() => waiting === 2);
  leaves.abort();
  expect(await left).toBe("left");
  expect(sessions).toHaveLength(1);
  const { sessionId = "" } = transport;
  await transport.terminateSession();
  await until(async () => (await logOf(server, 5)).includes("DELETE ok"));
  // Legacy servers end the stream of a canceled call with its session.
  await until(async () => (await logOf(server, 5)).filter((row) => row === "tools/call canceled").length === 2);
  // Its id is worth nothing from now on.
  const headers = { "mcp-session-id": sessionId, accept: "application/json, text/event-stream" };
  expect((await postTo(portal.url, undefined, headers)).status).toBe(404);
  await Promise.all([client.close(), modern.close()]);
});

test("ORG-3 a client of 2026-07-28 reaches a server without that revision, in a session that ends with the call", async () => {
  const { hosted } = await twoServers();
  await rig.database.pool.query(
    `UPDATE build SET manifest = jsonb_set(manifest::jsonb, '{protocolVersion}', '"2025-11-25"')
     FROM deployment WHERE deployment.build_id = build.id AND deployment.project_id = $1`,
    [hosted.projectId],
  );
  const portal = await addPortal(rig, [{ server: hosted, prefix: "here" }]);
  const modern = await connectModern(portal.url);
  expect(textOf(await modern.callTool({ name: "echo", arguments: { text: "a" } }))).toBe("a");
  await modern.close();
  const rows = ["initialize ok", "notifications/initialized ok", "tools/call ok", "DELETE ok"];
  // Rows of the calls that waited for the route come before them, some of them late.
  await expect.poll(async () => (await logOf(hosted, rows.length)).slice(-rows.length)).toEqual(rows);
});

test("ORG-3 requests whose headers and body differ are refused as the revision requires, before a server sees them", async () => {
  const { hosted } = await twoServers();
  const portal = await addPortal(rig, [{ server: hosted, prefix: "here" }]);
  const version = "io.modelcontextprotocol/protocolVersion";
  const meta = { [version]: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const ask = async (headers: Record<string, string>, _meta: object = meta, params: object = {}) => {
    const call = { name: "echo", arguments: { text: "x" }, _meta, ...params };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: call });
    const about = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
    const answer = await postTo(portal.url, body, {
      ...about,
      accept: "application/json, text/event-stream",
      ...headers,
    });
    const text = await answer.text();
    return [answer.status, /"code":(-?\d+)/.exec(text)?.[1] ?? "none"];
  };
  expect(await ask({})).toEqual([200, "none"]);
  expect(await ask({ "mcp-name": "fail" })).toEqual([400, "-32020"]);
  expect(await ask({ "mcp-method": "tools/list" })).toEqual([400, "-32020"]);
  expect(await ask({ "mcp-protocol-version": "2027-01-01" })).toEqual([400, "-32020"]);
  expect(await ask({}, { [version]: "2026-07-28" })).toEqual([400, "-32602"]);
  const later = { ...meta, [version]: "2027-01-01" };
  expect(await ask({ "mcp-protocol-version": "2027-01-01" }, later)).toEqual([400, "-32022"]);
  expect((await rig.rows(hosted.projectId, 1)).filter(({ tool }) => tool === "fail")).toEqual([]);
  const noSession = await postTo(portal.url, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }));
  expect(noSession.status).toBe(400);
});

test("ORG-3 a portal never serves another organization's server or another portal, even if its rows name one", async () => {
  const { hosted, external } = await twoServers();
  const own = await addPortal(rig, [{ server: hosted, prefix: "here" }]);
  const nested = await addPortal(rig, [{ server: hosted, prefix: "here" }]);
  const { pool } = rig.database;
  await pool.query(
    "INSERT INTO portal_server (portal_id, project_id, position, prefix) VALUES ($1, $2, 1, 'a'), ($1, $3, 2, 'b')",
    [own.portalId, external.projectId, nested.projectId],
  );
  // Seen once the change has arrived.
  await pool.query("UPDATE portal SET revision = 2, instructions = 'New.' WHERE id = $1", [own.portalId]);
  await until(async () => {
    const client = await connectModern(own.url);
    const isNew = client.getInstructions() === "New.";
    if (isNew) expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "fail"]);
    await client.close();
    return isNew;
  });
});

test("ORG-3 GW-10 without the database, even after a restart, a portal's lists stay the same", async () => {
  const { hosted } = await twoServers();
  const portal = await addPortal(rig, [{ server: hosted, prefix: "here" }]);
  const { databaseUrl, directDatabaseUrl } = rig.config;
  const nowhere = "postgres://nobody@127.0.0.1:1/none";
  await rig.restart({ databaseUrl: nowhere, directDatabaseUrl: nowhere });
  const url = new URL(`http://127.0.0.1:${rig.gateway.port}/${portal.label}/mcp`);
  const client = await connectModern(url);
  expect(textOf(await client.callTool({ name: "echo", arguments: { text: "still" } }))).toBe("still");
  await client.close();
  await rig.restart({ databaseUrl, directDatabaseUrl });
});
