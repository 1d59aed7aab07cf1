import { randomUUID } from "node:crypto";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { newApiKey, signAdminJwt } from "@towpath/auth/credentials";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMcpListener } from "./testing/mcp-server.ts";
import { createRig, insertDeployment, type Rig, secret, until } from "./testing/rig.ts";
import { startUnixServer } from "./testing/unix-server.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

const info = { name: "test-client", version: "9.1" };

async function connectModern(url: URL, headers: Record<string, string> = {}) {
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new ModernTransport(url, { requestInit: { headers } }));
  return client;
}

async function connectOld(url: URL, headers: Record<string, string> = {}) {
  const client = new OldClient(info);
  const transport = new OldTransport(url, { requestInit: { headers } });
  await client.connect(transport);
  return { client, transport };
}

async function storeKey(organizationId: string) {
  const made = newApiKey();
  const id = randomUUID();
  await rig.database.pool.query("INSERT INTO apikey (id, key, reference_id) VALUES ($1, $2, $3)", [
    id,
    made.hash,
    organizationId,
  ]);
  return { id, bearer: { authorization: `Bearer ${made.key}` } };
}

describe("both eras on one URL", () => {
  test("GW-2 GW-7 a modern client discovers, lists, calls; every message is one row", async () => {
    const server = await rig.deploy(createMcpListener());
    const client = await connectModern(server.url);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["echo", "fail"]);
    const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
    expect(result.content).toEqual([{ type: "text", text: "hello" }]);
    await client.callTool({ name: "fail", arguments: { text: "x" } });
    await client.close();

    const rows = (await rig.rows(server.projectId, 4)).reverse();
    expect(rows.map((row) => [row.method, row.tool, row.outcome, row.isError])).toEqual([
      ["server/discover", null, "ok", false],
      ["tools/list", null, "ok", false],
      ["tools/call", "echo", "ok", false],
      ["tools/call", "fail", "tool_error", true],
    ]);
    for (const row of rows) {
      expect(row).toMatchObject({
        deploymentId: server.deploymentId,
        httpStatus: 200,
        kind: "request",
        client: "test-client 9.1",
        protocolVersion: "2026-07-28",
        session: null,
        principal: "anonymous",
        requestPayload: null,
      });
      expect(row.durationMs).toBeGreaterThan(0);
      expect(row.requestBytes).toBeGreaterThan(50);
      expect(row.responseBytes).toBeGreaterThan(50);
    }
  });

  test("GW-2 GW-7 an old client initializes, keeps its session, streams progress, ends it", async () => {
    const server = await rig.deploy(createMcpListener());
    const { client, transport } = await connectOld(server.url);
    const progress: number[] = [];
    const result = await client.callTool({ name: "slow", arguments: { text: "hi" } }, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    expect(result.content).toEqual([{ type: "text", text: "hi" }]);
    expect(progress).toEqual([1]);
    await expect(client.request({ method: "tools/none" } as never, {} as never)).rejects.toThrow();
    await transport.terminateSession();
    await client.close();

    const rows = (await rig.rows(server.projectId, 6)).reverse();
    const named = rows
      .map((row) => [row.kind, row.httpMethod, row.method, row.httpStatus, row.outcome].join(" "))
      .sort();
    expect(named).toEqual(
      [
        "request POST initialize 200 ok",
        "notification POST notifications/initialized 202 ok",
        "request POST tools/call 200 ok",
        "request POST tools/none 200 rpc_error",
        "other DELETE  200 ok",
        "other GET  200 ok",
      ].sort(),
    );
    expect(new Set(rows.map((row) => row.session)).size).toBe(1);
    expect(rows[0]?.session).toMatch(/^[\w-]{22}$/);
    expect(new Set(rows.map((row) => row.client))).toEqual(new Set(["test-client 9.1"]));
    expect(new Set(rows.map((row) => row.protocolVersion))).toEqual(new Set(["2025-11-25"]));
    expect(rows.find((row) => row.method === "tools/none")).toMatchObject({ errorCode: -32601, isError: true });
  });

  test("GW-2 GW-7 a batch of 2025-03-26 becomes one row for each message", async () => {
    const answer = JSON.stringify([
      { jsonrpc: "2.0", id: 2, error: { code: -32602, message: "bad" } },
      { jsonrpc: "2.0", id: 1, result: {} },
    ]);
    const server = await rig.deploy((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "application/json" }).end(answer);
    });
    const body = JSON.stringify([
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a" } },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "b" } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ]);
    const response = await fetch(server.url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(await response.text()).toBe(answer);
    const rows = await rig.rows(server.projectId, 3);
    expect(rows.map((row) => [row.tool ?? row.method, row.outcome]).sort()).toEqual([
      ["a", "ok"],
      ["b", "rpc_error"],
      ["notifications/initialized", "ok"],
    ]);
  });
});

describe("towpath-cloud", () => {
  test("GW-4 asks for credentials with 401 and WWW-Authenticate, takes an API key and the admin JWT", async () => {
    const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
    const post = (headers: Record<string, string>, query = "") =>
      fetch(`${server.url}${query}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: '{"id":1,"method":"ping"}',
      });
    for (const headers of [
      {},
      { authorization: "Bearer nope" },
      { authorization: `Bearer ${newApiKey().key}` },
      { authorization: "Basic eDp5" },
    ]) {
      const refused = await post(headers as Record<string, string>);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer /);
      expect(await refused.json()).toMatchObject({ error: { data: { towpath: "unauthorized" } } });
    }
    const key = await storeKey(server.organizationId);
    expect((await post(key.bearer, `?access_token=${key.bearer.authorization.slice(7)}`)).status).toBe(401);

    await (await connectModern(server.url, key.bearer)).close();
    const { token } = await signAdminJwt({ secret, projectId: server.projectId });
    await (await connectModern(server.url, { authorization: `Bearer ${token}` })).close();
    const rows = await rig.rows(server.projectId, 2);
    expect(new Set(rows.map((row) => row.principal))).toEqual(new Set([`key:${key.id}`, "admin"]));
  });

  test("GW-4 a revoked key stops at once, although it was remembered", async () => {
    const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
    const key = await storeKey(server.organizationId);
    const client = await connectModern(server.url, key.bearer);
    await client.listTools();
    await rig.database.pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [key.id]);
    await until(() =>
      client.listTools().then(
        () => false,
        () => true,
      ),
    );
    await client.close();
  });

  test("GW-11 the server learns who calls and never sees the caller's token or forged identities", async () => {
    let seen: string[] = [];
    const listener = (request: { rawHeaders: string[]; resume: () => void }, response: { end: () => void }) => {
      seen = request.rawHeaders;
      request.resume();
      response.end();
    };
    const headers = {
      cookie: "a=1; towpath.session=x; b=2",
      "towpath-actor": "forged",
      towpath_actor_type: "forged",
      "x-own": "kept",
    };
    const cloud = await rig.deploy(listener as never, { authMode: "towpath-cloud" });
    const key = await storeKey(cloud.organizationId);
    await fetch(cloud.url, { headers: { ...headers, ...key.bearer } });
    const text = seen.join("\n");
    expect(text).not.toMatch(/forged|Bearer|authorization|session=x/i);
    expect(text).toContain(
      `towpath-actor\nkey:${key.id}\ntowpath-actor-type\napi-key\ntowpath-actor-organization\n${cloud.organizationId}`,
    );
    expect(text).toContain("x-own\nkept");
    expect(text).toContain("a=1; b=2");

    for (const authMode of ["passthrough", "towpath-public"] as const) {
      const server = await rig.deploy(listener as never, { authMode });
      await fetch(server.url, { headers: { ...headers, authorization: "Bearer own" } });
      expect(seen.join("\n")).toContain("authorization\nBearer own");
      expect(seen.join("\n")).not.toMatch(/forged|towpath-actor/i);
    }
  });
});

describe("legacy sessions", () => {
  test("GW-6 a session is its principal's alone: another one gets 404, before and after a restart", async () => {
    const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
    const [mine, theirs] = [await storeKey(server.organizationId), await storeKey(server.organizationId)];
    const { client, transport } = await connectOld(server.url, mine.bearer);
    const use = (bearer: Record<string, string>) =>
      fetch(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`, {
        method: "POST",
        headers: {
          ...bearer,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-session-id": transport.sessionId ?? "",
          "mcp-protocol-version": "2025-11-25",
        },
        body: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}',
      });
    const status = async (bearer: Record<string, string>) => {
      const response = await use(bearer);
      await response.body?.cancel();
      return response.status;
    };
    expect([await status(mine.bearer), await status(theirs.bearer)]).toEqual([200, 404]);
    await rig.restart();
    expect([await status(mine.bearer), await status(theirs.bearer)]).toEqual([200, 404]);
    await client.close();
    expect(await (await use(theirs.bearer)).json()).toMatchObject({
      error: { code: -32001, data: { towpath: "session_not_found" } },
    });
  });

  test("GW-2 a session of a process that is gone answers 404, so that the client initializes again", async () => {
    const server = await rig.deploy(createMcpListener());
    const { client, transport } = await connectOld(new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`));
    await client.listTools();
    await server.upstream.close();
    const next = await startUnixServer(createMcpListener());
    rig.runner.instances.set(server.deploymentId, { instanceId: randomUUID(), socketPath: next.socketPath });
    await expect(client.listTools()).rejects.toMatchObject({ code: 404 });
    expect(transport.sessionId).toBeDefined();
    await client.close();
    const again = await connectOld(new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`));
    expect((await again.client.listTools()).tools.length).toBe(3);
    await again.client.close();
    await next.close();
  });

  test("GW-2 after a rollout a session stays with its process while that lives, and new clients get the new one", async () => {
    const server = await rig.deploy(createMcpListener());
    const url = new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`);
    const old = await connectOld(url);
    await old.client.listTools();
    const next = await startUnixServer(createMcpListener());
    const deploymentId = randomUUID();
    await insertDeployment(rig.database.pool, { ...server, deploymentId });
    rig.runner.instances.set(deploymentId, { instanceId: randomUUID(), socketPath: next.socketPath });
    await rig.database.pool.query("UPDATE route SET deployment_id = $1, sequence = 2 WHERE label = $2", [
      deploymentId,
      server.label,
    ]);
    await until(async () => {
      const client = await connectModern(url);
      await client.close();
      return (await rig.rows(server.projectId, 1)).some((row) => row.deploymentId === deploymentId);
    });
    expect((await old.client.listTools()).tools.length).toBe(3);
    // The old deployment is stopped: its sessions end, and nothing starts it again.
    rig.runner.instances.delete(server.deploymentId);
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
});

test("GW-7 payloads are kept only where the project asks for it, and without secrets", async () => {
  const server = await rig.deploy(createMcpListener(), { capturePayloads: true });
  const client = await connectModern(new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`));
  await client.callTool({ name: "echo", arguments: { text: "kept", password: "hunter2", nested: { api_key: "abc" } } });
  await client.close();
  const row = (await rig.rows(server.projectId, 2)).find((entry) => entry.method === "tools/call");
  expect(row?.requestPayload).toMatchObject({
    params: { name: "echo", arguments: { text: "kept", password: "[redacted]", nested: { api_key: "[redacted]" } } },
  });
  expect(row?.responsePayload).toMatchObject({ result: { content: [{ text: "kept" }] } });
});
