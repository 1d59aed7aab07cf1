import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { storeApiKey } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();

const sessionId = "the-server's-own-id";
const answers: Record<string, object> = {
  initialize: { result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } } },
  "resources/read": { error: { code: -32002, message: "no such resource" } },
};
const failed = {
  result: { content: [{ type: "text", text: "the tool failed" }], isError: true, token: "hush-answer" },
};

/** Answers after a while, and so that sizes are known. */
const listener: RequestListener = async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
  await new Promise((resolve) => setTimeout(resolve, 40));
  response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json", "mcp-session-id": sessionId });
  response.end(id === undefined ? "" : answerTo(id, method));
};
const answerTo = (id: number, method: string) => JSON.stringify({ jsonrpc: "2.0", id, ...(answers[method] ?? failed) });

type Row = Record<string, unknown>;

/** The rows of a project as the table holds them, in the order in which the calls came. */
async function tableRows(server: DeployedServer, count: number): Promise<Row[]> {
  let rows: Row[] = [];
  await until(async () => {
    const query = "SELECT * FROM request_log WHERE project_id = $1 ORDER BY time, id";
    rows = (await rig.database.pool.query(query, [server.projectId])).rows;
    return rows.length === count;
  });
  return rows;
}

/** A session of a client with an API key: initialize, a notification, and then `calls`, one after the other. */
async function runSession(server: DeployedServer, bearer: Record<string, string>, calls: object[]) {
  const sent: { body: string; startedAt: number; endedAt: number }[] = [];
  let session: Record<string, string> = {};
  const clientInfo = { name: "known-client", version: "3.2.1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const begin = [{ id: 1, method: "initialize", params }, { method: "notifications/initialized" }];
  for (const message of [...begin, ...calls]) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const startedAt = Date.now();
    const response = await fetch(server.url, {
      method: "POST",
      headers: {
        ...bearer,
        ...session,
        "content-type": "application/json",
        traceparent: `00-${"a1".repeat(16)}-${"b2".repeat(8)}-01`,
      },
      body,
    });
    await response.arrayBuffer();
    session = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    sent.push({ body, startedAt, endedAt: Date.now() });
  }
  return { sent, session: session["mcp-session-id"] ?? "" };
}

const toolCall = {
  id: 2,
  method: "tools/call",
  params: { name: "fails", arguments: { text: "kept", password: "hush" } },
};
const read = { id: 3, method: "resources/read", params: { uri: "file:///secret.txt" } };

test("GW-7 every column of every message's row is correct", async () => {
  const server = await rig.deploy(listener, { authMode: "towpath-cloud", capturePayloads: true });
  const { id: keyId, bearer } = await storeApiKey(rig, server.organizationId);
  const running = rig.runner.servers.get(server.deploymentId);
  if (running) rig.runner.servers.set(server.deploymentId, { ...running, startMs: 120 });
  const { sent, session } = await runSession(server, bearer, [toolCall, read]);

  const rows = await tableRows(server, 4);
  const common = {
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    // The same as the id: no batch.
    request_id: null,
    time: expect.any(Date),
    organization_id: server.organizationId,
    project_id: server.projectId,
    deployment_id: server.deploymentId,
    kind: "request",
    http_method: "POST",
    target: null,
    http_status: 200,
    is_error: false,
    error_code: null,
    error_message: null,
    outcome: "ok",
    duration_ms: expect.any(Number),
    held_ms: 0,
    server_ms: expect.any(Number),
    start_attempt: null,
    instance_id: running?.instanceId,
    refusal: null,
    // The trigger has counted the row already.
    needs_rollup: null,
    protocol_version: "2025-11-25",
    client_name: "known-client",
    client_version: "3.2.1",
    session: expect.stringMatching(/^[\w-]{22}$/),
    principal: `key:${keyId}`,
    trace_id: "a1".repeat(16),
    response_payload: null,
    request_truncated: null,
    response_truncated: null,
  };
  const sizes = (at: number, answer: string) => ({
    request_bytes: Buffer.byteLength(sent[at]?.body ?? ""),
    response_bytes: String(Buffer.byteLength(answer)),
  });
  const answered = (id: number, method: string, at: number) => {
    const answer = answerTo(id, method);
    return {
      ...sizes(at, answer),
      method,
      request_payload: JSON.parse(sent[at]?.body ?? ""),
      response_payload: JSON.parse(answer),
    };
  };
  const redactedCall = { ...toolCall.params, arguments: { text: "kept", password: "[redacted]" } };
  // All columns and no others: add new ones here with their value.
  expect(rows).toEqual([
    {
      ...common,
      ...answered(1, "initialize", 0),
      held_ms: expect.any(Number),
      start_attempt: {
        outcome: "started",
        placeMs: expect.any(Number),
        startMs: expect.any(Number),
        wakeMs: null,
        reason: null,
      },
    },
    {
      ...common,
      ...sizes(1, ""),
      kind: "notification",
      method: "notifications/initialized",
      http_status: 202,
      request_payload: { jsonrpc: "2.0", method: "notifications/initialized" },
    },
    {
      ...common,
      ...answered(2, "tools/call", 2),
      target: "fails",
      is_error: true,
      outcome: "tool_error",
      error_message: "the tool failed",
      request_payload: { jsonrpc: "2.0", ...toolCall, params: redactedCall },
      response_payload: { jsonrpc: "2.0", id: 2, result: { ...failed.result, token: "[redacted]" } },
    },
    {
      ...common,
      ...answered(3, "resources/read", 3),
      target: "file:///secret.txt",
      is_error: true,
      error_code: -32002,
      error_message: "no such resource",
      outcome: "rpc_error",
    },
  ]);
  for (const [at, row] of rows.entries()) {
    const { startedAt = 0, endedAt = 0 } = sent[at] ?? {};
    const time = (row.time as Date).getTime();
    expect(time).toBeGreaterThanOrEqual(startedAt);
    expect(time).toBeLessThanOrEqual(endedAt);
    expect(row.duration_ms).toBeGreaterThanOrEqual(39);
    expect(row.duration_ms).toBeLessThanOrEqual(endedAt - startedAt + 1);
  }
  // The first request was held while the server started.
  expect(rows[0]?.held_ms).toBeGreaterThanOrEqual(119);
  expect(rows[0]?.duration_ms).toBeGreaterThan(Number(rows[0]?.held_ms));
  expect(new Set(rows.map((row) => row.session)).size).toBe(1);
  // Nothing in them lets anybody call: neither the key, nor the session's ids, nor what was redacted.
  const text = JSON.stringify(rows);
  for (const secret of [bearer.authorization.slice("Bearer ".length), session, sessionId, "hush"]) {
    expect(text).not.toContain(secret);
  }
});

test("GW-7 without the project's consent no row holds any payload", async () => {
  const server = await rig.deploy(listener, { authMode: "towpath-public" });
  await runSession(server, {}, [toolCall, read]);
  const rows = await tableRows(server, 4);
  expect(rows.map((row) => [row.request_payload, row.response_payload])).toEqual(Array(4).fill([null, null]));
  expect(rows.map((row) => row.principal)).toEqual(Array(4).fill("anonymous"));
  expect(JSON.stringify(rows)).not.toContain("kept");
});
