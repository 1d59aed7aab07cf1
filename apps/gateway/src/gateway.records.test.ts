import { afterAll, beforeAll, expect, test } from "vitest";
import { connectModern, connectOld } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { createRig, type Rig, until } from "./testing/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

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

test("GW-7 a canceled call is told as canceled and is no error, in both eras", async () => {
  const modern = async (url: URL) => {
    const client = await connectModern(url);
    return { wait: (signal: AbortSignal) => client.callTool(call, { signal }), close: () => client.close() };
  };
  const legacy = async (url: URL) => {
    const { client } = await connectOld(url);
    return { wait: (signal: AbortSignal) => client.callTool(call, undefined, { signal }), close: () => client.close() };
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
    await new Promise((resolve) => setTimeout(resolve, 100));
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
  const server = await rig.deploy((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
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
