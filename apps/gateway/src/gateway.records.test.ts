import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { withheld } from "./record/redact.ts";
import { answerEmpty, connectLegacy, connectModern, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { openRig, type Rig, until } from "./testing/rig.ts";

const rig = openRig();

const call = { name: "wait", arguments: { text: "x" } };

/** The row of the project's only tool call. */
async function callRow(projectId: string) {
  let row: Awaited<ReturnType<Rig["rows"]>>[number] | undefined;
  await until(async () => {
    row = (await rig.rows(projectId, 1)).find((entry) => entry.method === "tools/call");
    return row !== undefined;
  });
  return row;
}

test("GW-7 a canceled call is recorded as canceled, not as an error, in both eras", async () => {
  const modern = async (url: URL) => {
    const client = await connectModern(url);
    return {
      cancellations: 0,
      wait: (signal: AbortSignal) => client.callTool(call, { signal }),
      close: () => client.close(),
    };
  };
  const legacy = async (url: URL) => {
    const { client } = await connectLegacy(url);
    return {
      cancellations: 1,
      wait: (signal: AbortSignal) => client.callTool(call, undefined, { signal }),
      close: () => client.close(),
    };
  };
  for (const connectTo of [modern, legacy]) {
    let isRunning = false;
    const server = await rig.deploy(
      createMcpListener({
        onWait: () => {
          isRunning = true;
        },
      }),
    );
    const client = await connectTo(server.url);
    const canceling = new AbortController();
    const settled = client.wait(canceling.signal).then(
      () => "answered",
      () => "canceled",
    );
    await until(() => isRunning);
    canceling.abort();
    expect(await settled).toBe("canceled");
    // The legacy server ends the stream of a canceled call only with its session.
    await until(
      async () =>
        (await rig.rows(server.projectId, 0)).filter(({ method }) => method === "notifications/cancelled").length ===
        client.cancellations,
    );
    await client.close();
    expect(await callRow(server.projectId)).toMatchObject({ outcome: "canceled", isError: false, errorMessage: null });
  }
});

test("GW-7 a legacy server that answers a canceled call by an error has canceled it; a result counts as a result", async () => {
  const waiting: (() => void)[] = [];
  const server = await rig.deploy(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
    const answer = (status: number, value: unknown) => {
      response.writeHead(status, { "content-type": "application/json", "mcp-session-id": "only" });
      response.end(value === null ? "" : JSON.stringify(value));
    };
    if (body.method === "notifications/cancelled") {
      answer(202, null);
      waiting.shift()?.();
    } else if (body.method === "tools/call") {
      const failed = { error: { code: 0, message: "Request cancelled" } };
      waiting.push(() => answer(200, { jsonrpc: "2.0", id: body.id, ...(body.id === 1 ? failed : { result: {} }) }));
    } else answer(200, { jsonrpc: "2.0", id: body.id, result: {} });
  });
  const post = (body: object, headers: Record<string, string> = {}) =>
    fetch(server.url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...body }) });
  const id = (await post({ id: 0, method: "initialize" })).headers.get("mcp-session-id") ?? "";
  const session = { "mcp-session-id": id };
  for (const requestId of [1, "1"]) {
    const running = post({ id: requestId, method: "tools/call", params: { name: `of ${typeof requestId}` } }, session);
    await until(() => waiting.length === 1);
    await post({ method: "notifications/cancelled", params: { requestId } }, session);
    await running;
  }
  const rows = (await rig.rows(server.projectId, 5)).filter((row) => row.method === "tools/call");
  expect(rows.map((row) => [row.tool, row.outcome, row.isError, row.errorCode]).sort()).toEqual([
    ["of number", "canceled", false, null],
    ["of string", "ok", false, null],
  ]);
});

test("GW-7 the client of a stateless legacy server is known by its User-Agent", async () => {
  const server = await rig.deploy(answerEmpty);
  const post = (agent: string) =>
    fetch(server.url, {
      method: "POST",
      headers: { "user-agent": agent },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
  for (const agent of ["python-httpx/0.28.1", "my-agent", "claude-code/2.0 (cli) node/24", "(odd)"]) await post(agent);
  expect((await rig.rows(server.projectId, 4)).map((row) => row.client).sort()).toEqual(
    ["claude-code 2.0", "my-agent", "python-httpx 0.28.1", null].sort(),
  );
});

test("GW-7 a successful answer of several megabytes is no error", async () => {
  const server = await rig.deploy((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"jsonrpc":"2.0","id":1,"result":{"content":[');
    for (let at = 0; at < 40; at++) response.write("12,".repeat(32_768));
    response.end("1]}}");
  });
  const answer = await fetch(server.url, { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}' });
  await answer.arrayBuffer();
  expect(await callRow(server.projectId)).toMatchObject({ outcome: "ok", isError: false });
});

test("GW-7 every refused message to a known server leaves a row, with all that is known of it", async () => {
  const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
  const key = await storeApiKey(rig, server.organizationId);
  const foreign = await storeApiKey(rig, (await rig.deploy(createMcpListener())).organizationId);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "echo" } });
  const post = async (headers: Record<string, string>, sent: string | Buffer = body) => {
    const answer = await fetch(server.url, { method: "POST", headers, body: sent });
    await answer.arrayBuffer();
    return answer.status;
  };
  const named = { "mcp-method": "tools/call", "mcp-name": "=?base64?ZWNobw==?=", "mcp-protocol-version": "2026-07-28" };
  expect(await post(named)).toBe(401);
  expect(await post(foreign.bearer)).toBe(404);
  expect(await post({ ...key.bearer, origin: "https://evil.example" })).toBe(403);
  expect(await post(key.bearer, Buffer.alloc(4 * 1024 * 1024 + 1))).toBe(413);
  expect(await post({ ...key.bearer, "mcp-session-id": "dead" })).toBe(404);

  const rows = (await rig.rows(server.projectId, 5)).reverse();
  expect(rows.map((row) => [row.httpStatus, row.method, row.tool, row.principal, row.protocolVersion])).toEqual([
    // A stranger makes up names, and causes no variables to be read.
    [401, "tools/call", withheld, "anonymous", "2026-07-28"],
    [404, null, null, "anonymous", null],
    [403, null, null, "anonymous", null],
    [413, null, null, `key:${key.id}`, null],
    [404, "tools/call", "echo", `key:${key.id}`, null],
  ]);
  for (const row of rows) {
    expect(row).toMatchObject({ outcome: "gateway_error", isRefused: true, errorCode: expect.any(Number) });
    expect(row.errorMessage?.length).toBeGreaterThan(10);
  }
});

test("GW-7 strangers cannot fill a project's log: omitted rows are counted", async () => {
  const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
  const key = await storeApiKey(rig, server.organizationId);
  const knock = () => fetch(server.url, { method: "POST", body: "{}" }).then((answer) => answer.arrayBuffer());
  for (let at = 0; at < 8; at++) await Promise.all(Array.from({ length: 50 }, knock));
  // Whoever may call is logged all the same.
  await (await connectModern(server.url, key.bearer)).close();
  await until(async () => (await rig.rows(server.projectId, 1)).some((row) => row.principal === `key:${key.id}`));
  const { rows } = await rig.database.pool.query(
    "SELECT count(*)::int AS count FROM request_log WHERE project_id = $1 AND http_status = 401",
    [server.projectId],
  );
  expect(rows[0].count).toBeGreaterThanOrEqual(60);
  expect(rows[0].count).toBeLessThan(250);
  const metrics = await (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/metrics`)).text();
  expect(Number(/^towpath_gateway_log_rows_left_out_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(150);
});

test("GW-7 a call whose stream ends early has one row, with its whole duration and the later error", async () => {
  const server = await rig.deploy(createMcpListener({ beforeResumedAnswer: () => sleep(600) }));
  const { client } = await connectLegacy(server.url);
  const from = performance.now();
  const result = await client.callTool({ name: "resume", arguments: { text: "x" } });
  const tookMs = performance.now() - from;
  expect(result.isError).toBe(true);
  const row = await callRow(server.projectId);
  expect(row).toMatchObject({ outcome: "tool_error", isError: true, httpStatus: 200 });
  expect(row?.durationMs).toBeGreaterThan(600);
  expect(row?.durationMs).toBeLessThanOrEqual(tookMs);
  await client.close();
  const calls = (await rig.rows(server.projectId, 4)).filter((entry) => entry.method === "tools/call");
  expect(calls).toHaveLength(1);
  // The request that carried the answer did not fail.
  await until(async () => (await rig.rows(server.projectId, 5)).some((entry) => entry.httpMethod === "GET"));
  const gets = (await rig.rows(server.projectId, 5)).filter((entry) => entry.httpMethod === "GET");
  expect(gets.map((entry) => entry.isError)).not.toContain(true);
});

test("GW-7 a call that nobody resumes keeps its row when the gateway stops, and a failure found later is recorded", async () => {
  const resumed = Promise.withResolvers<void>();
  const server = await rig.deploy(createMcpListener({ beforeResumedAnswer: () => resumed.promise }));
  const { client, transport } = await connectLegacy(server.url);
  const headers = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-session-id": transport.sessionId ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  const params = { name: "resume", arguments: { text: "x" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/call", params });
  const begun = await (await fetch(server.url, { method: "POST", headers, body })).text();
  const lastEventId = /^id: (.+)$/m.exec(begun)?.[1] ?? "";
  expect(lastEventId).not.toBe("");
  await rig.restart();
  expect(await callRow(server.projectId)).toMatchObject({ outcome: "closed_by_server", isError: false });
  // The new gateway knows nothing of the call, but records its failure.
  const url = `http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`;
  const rest = await fetch(url, { headers: { ...headers, "last-event-id": lastEventId } });
  resumed.resolve();
  expect(await rest.text()).toContain("it failed");
  await until(async () => (await rig.rows(server.projectId, 1)).some((row) => row.outcome === "tool_error"));
  await client.close();
});
