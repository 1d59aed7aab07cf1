import { newApiKey, signAdminJwt } from "@towpath/auth/credentials";
import { describe, expect, test } from "vitest";
import { connectLegacy, connectModern, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { openRig, until } from "./testing/rig.ts";

const rig = openRig();

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
    const { client, transport } = await connectLegacy(server.url);
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
      const code = headers.authorization?.startsWith("Bearer ") ? "unauthorized" : "sign_in_required";
      expect(await refused.json()).toMatchObject({ error: { data: { towpath: code } } });
    }
    const key = await storeApiKey(rig, server.organizationId);
    expect((await post(key.bearer, `?access_token=${key.bearer.authorization.slice(7)}`)).status).toBe(401);

    await (await connectModern(server.url, key.bearer)).close();
    const { token } = await signAdminJwt(rig.signingKeys, { projectId: server.projectId, userId: null, generation: 0 });
    await (await connectModern(server.url, { authorization: `Bearer ${token}` })).close();
    const rows = await rig.rows(server.projectId, 7);
    expect(rows.filter((row) => row.httpStatus === 401).map((row) => row.principal)).toEqual(
      Array(5).fill("anonymous"),
    );
    const answered = rows.filter((row) => row.httpStatus !== 401);
    expect(new Set(answered.map((row) => row.principal))).toEqual(new Set([`key:${key.id}`, "admin"]));
  });

  test("GW-4 a revoked key stops working at once, although it was cached", async () => {
    const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
    const key = await storeApiKey(rig, server.organizationId);
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

  test("GW-11 the server learns its caller's identity and never sees the caller's token or forged identities", async () => {
    let seen: string[] = [];
    const listener = (request: { rawHeaders: string[]; resume: () => void }, response: { end: () => void }) => {
      seen = request.rawHeaders;
      request.resume();
      response.end();
    };
    const headers = {
      cookie: "c=3; towpath.session=x",
      "towpath-actor": "forged",
      towpath_actor_type: "forged",
      "x-own": "kept",
    };
    const cloud = await rig.deploy(listener as never, { authMode: "towpath-cloud" });
    const key = await storeApiKey(rig, cloud.organizationId);
    const cookie = `~${cloud.label}~a=1; ${headers.cookie}; ~${cloud.label}~b=2`;
    await fetch(cloud.url, { headers: { ...headers, ...key.bearer, cookie } });
    const text = seen.join("\n");
    expect(text).not.toMatch(/forged|Bearer|authorization|session=x/i);
    expect(text).toContain(
      `towpath-actor\nkey:${key.id}\ntowpath-actor-type\napi-key\ntowpath-actor-organization\n${cloud.organizationId}`,
    );
    expect(text).toContain("x-own\nkept");
    expect(text).toContain("cookie\na=1; b=2\n");

    for (const authMode of ["passthrough", "towpath-public"] as const) {
      const server = await rig.deploy(listener as never, { authMode });
      await fetch(server.url, { headers: { ...headers, authorization: "Bearer own" } });
      expect(seen.join("\n")).toContain("authorization\nBearer own");
      expect(seen.join("\n")).not.toMatch(/forged|towpath-actor/i);
    }
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
  expect(row).toMatchObject({ requestTruncated: false, responseTruncated: false });
});

test("GW-7 the beginning of a large call and of its streamed answer is kept, and marked as such, in both eras", async () => {
  const server = await rig.deploy(createMcpListener(), { capturePayloads: true });
  const modern = await connectModern(server.url);
  const legacy = await connectLegacy(server.url);
  const text = "0123456789".repeat(10_000);
  const call = { name: "echo", arguments: { text, password: "hunter2" } };
  await modern.callTool(call);
  await legacy.client.callTool(call);
  await modern.close();
  await legacy.client.close();
  await until(async () => (await rig.rows(server.projectId, 2)).filter((row) => row.tool === "echo").length === 2);
  for (const row of (await rig.rows(server.projectId, 2)).filter((entry) => entry.tool === "echo")) {
    expect(row).toMatchObject({ requestTruncated: true, responseTruncated: true });
    expect(JSON.stringify([row.requestPayload, row.responsePayload])).not.toContain("hunter2");
    expect(row.requestPayload).toMatchObject({ params: { name: "echo", arguments: { text: expect.any(String) } } });
    const [kept] = (row.responsePayload as { result: { content: [{ text: string }] } }).result.content;
    expect(kept.text.length).toBeGreaterThan(50_000);
    expect(text.startsWith(kept.text.slice(0, -1)) && kept.text.endsWith("…")).toBe(true);
  }
});

test("GW-7 PRJ-11 capture is switched on and off while clients call", async () => {
  const server = await rig.deploy(createMcpListener());
  const client = await connectModern(new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`));
  let calls = 0;
  const isKept = async (): Promise<boolean> => {
    const text = `call ${++calls}`;
    await client.callTool({ name: "echo", arguments: { text } });
    let row: Awaited<ReturnType<typeof rig.rows>>[number] | undefined;
    await until(async () => {
      const rows = (await rig.rows(server.projectId, 1)).filter((entry) => entry.method === "tools/call");
      row = rows.length === calls ? rows[0] : undefined;
      return row !== undefined;
    });
    if (row?.requestPayload === null) return false;
    expect(row?.requestPayload).toMatchObject({ params: { arguments: { text } } });
    return true;
  };
  expect(await isKept()).toBe(false);
  for (const capturePayloads of [true, false]) {
    const change = "UPDATE project SET capture_payloads = $2 WHERE id = $1";
    await rig.database.pool.query(change, [server.projectId, capturePayloads]);
    await until(async () => (await isKept()) === capturePayloads);
  }
  await client.close();
});
