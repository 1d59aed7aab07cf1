import type { RequestListener } from "node:http";
import { afterEach, expect, test } from "vitest";
import { McpClientError, openClient, readManifest, recordAnswers } from "./index.ts";
import {
  type Listening,
  legacy,
  legacyBrokenResources,
  legacyPagedServer,
  legacyToolServer,
  listen,
  modern,
} from "./testing/servers.ts";

const running: Listening[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function serve(handler: RequestListener): Promise<Listening> {
  const server = await listen(handler);
  running.push(server);
  return server;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error("it worked"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(McpClientError);
  return (error as McpClientError).code;
}

test("BLD-6 the manifest of a 2026-07-28 server, over a URL and over a unix socket", async () => {
  const { url, socketPath } = await serve(modern());
  const { manifest } = await readManifest({ url }, { timeoutMs: 10_000 });
  expect(manifest).toMatchObject({
    protocolVersion: "2026-07-28",
    server: { name: "modern", version: "2.0.0" },
    instructions: "Be kind.",
    resources: [{ resource_name: "motd", uri: "text://motd", mimeType: "text/plain" }],
    templates: [{ template_name: "user", uriTemplate: "user://{id}" }],
    prompts: [{ prompt_name: "greet", arguments: [{ name: "name", required: true }] }],
  });
  expect(manifest.tools.map((tool) => tool.tool_name)).toEqual(["add", "slow", "fails"]);
  expect(manifest.tools[0]).toMatchObject({
    title: "Add",
    inputSchema: { required: ["a", "b"] },
    outputSchema: { properties: { sum: { type: "number" } } },
    annotations: { readOnlyHint: true },
  });
  expect((await readManifest({ socketPath }, { timeoutMs: 10_000 })).manifest).toEqual(manifest);
});

test("BLD-6 the manifest of a 2025 server; lacking capabilities are empty lists; its session is ended", async () => {
  const { handler, sessions } = legacy(legacyToolServer);
  const { socketPath } = await serve(handler);
  const { manifest } = await readManifest({ socketPath }, { timeoutMs: 10_000 });
  expect(manifest.protocolVersion).toBe("2025-11-25");
  expect(manifest.tools.map((tool) => tool.tool_name)).toEqual(["echo"]);
  expect([manifest.resources, manifest.templates, manifest.prompts]).toEqual([[], [], []]);
  expect(sessions.size).toBe(0);
});

test("BLD-6 all pages are read; resources without templates are no failure", async () => {
  const { url } = await serve(legacy(() => legacyPagedServer()).handler);
  const { manifest } = await readManifest({ url }, { timeoutMs: 10_000 });
  expect(manifest.tools).toHaveLength(130);
  expect(manifest.tools.at(-1)?.tool_name).toBe("tool_129");
  expect(manifest.templates).toEqual([]);
});

test("BLD-6 a list that fails is named with the server's error; the others are read", async () => {
  const { url } = await serve(legacy(legacyBrokenResources).handler);
  const { manifest, failedLists } = await readManifest({ url }, { timeoutMs: 10_000 });
  expect(manifest.tools.map((tool) => tool.tool_name)).toEqual(["fine"]);
  expect(manifest.resources).toEqual([]);
  expect(failedLists.map(({ list, error }) => [list, error.code])).toEqual([["resources", "server_error"]]);
  expect(failedLists[0]?.error.message).toContain("the catalogue is unavailable");
});

/** A server of the 2025 revision with this text as its list. */
const listing =
  (tools: string): RequestListener =>
  (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(body || "{}");
      const server =
        '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}';
      const result = method === "initialize" ? server : method === "tools/list" ? `{"tools":${tools}}` : null;
      if (result === null) return response.writeHead(id === undefined ? 202 : 400).end();
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
    });
  };

test("BLD-6 a manifest can be stored and queried in the database, with any names of tools", async () => {
  const hostile = String.raw`a\u0000b\ud800c\\u0000d\ud83d\ude00`;
  const schema = `{"type":"object","properties":{"${hostile}":{"description":"${hostile}"}}}`;
  const { url } = await serve(listing(`[{"name":"${hostile}","inputSchema":${schema}}]`));
  const { manifest } = await readManifest({ url }, { timeoutMs: 10_000 });
  const name = "a\ufffdb\ufffdc\\u0000d😀";
  expect(manifest.tools[0]).toMatchObject({
    tool_name: name,
    inputSchema: { properties: { [name]: { description: name } } },
  });
});

test("BLD-6 a manifest that is nested without end is the server's fault", async () => {
  const deep = 200_000;
  const nested = `{"type":"object","x":${"[".repeat(deep)}${"]".repeat(deep)}}`;
  const { url } = await serve(listing(`[{"name":"deep","inputSchema":${nested}}]`));
  expect(await codeOf(readManifest({ url }, { timeoutMs: 10_000 }))).toBe("not_mcp");
});

test("BLD-6 a manifest is bounded in items and in bytes", async () => {
  const { url } = await serve(legacy(() => legacyPagedServer(1_000)).handler);
  expect(await codeOf(readManifest({ url }, { timeoutMs: 10_000, maxItems: 100 }))).toBe("too_large");
  // At once, not when the time is over: the test's own limit is shorter.
  expect(await codeOf(readManifest({ url }, { timeoutMs: 600_000, maxBytes: 60_000 }))).toBe("too_large");
});

test("PRJ-4 calls tools, reads resources, gets prompts; the result is the server's own, with its duration", async () => {
  const { url } = await serve(modern());
  const client = await openClient({ url });
  const sum = await client.callTool("add", { a: 2, b: 3 });
  expect(sum.result).toMatchObject({ structuredContent: { sum: 5 }, content: [{ type: "text", text: "5" }] });
  expect(sum.protocolVersion).toBe("2026-07-28");
  expect(sum.durationMs).toBeGreaterThan(0);
  expect((await client.callTool("fails", {})).result).toMatchObject({ isError: true });
  expect((await client.readResource("user://7")).result).toMatchObject({ contents: [{ text: "a user" }] });
  expect((await client.getPrompt("greet", { name: "Ada" })).result).toMatchObject({
    messages: [{ content: { text: "Greet Ada" } }],
  });
  expect(await codeOf(client.readResource("text://nope"))).toBe("server_error");
  expect(await codeOf(client.callTool("slow", {}, { timeoutMs: 200 }))).toBe("timeout");
  const cancel = new AbortController();
  setTimeout(() => cancel.abort(), 100);
  expect(await codeOf(client.callTool("slow", {}, { signal: cancel.signal }))).toBe("aborted");
  await client.close();
  await client.close();
});

test("PRJ-4 headers reach the server; a legacy server answers the same calls", async () => {
  const seen = new Set<string | undefined>();
  const { handler } = legacy(legacyToolServer);
  const { url } = await serve((request, response) => {
    seen.add(request.headers["x-key"] as string | undefined);
    return handler(request, response);
  });
  const client = await openClient({ url, headers: { "X-Key": "k1" } });
  expect((await client.callTool("echo", { text: "hi" })).result).toMatchObject({ content: [{ text: "hi" }] });
  expect(client.protocolVersion).toBe("2025-11-25");
  await client.close();
  expect([...seen]).toEqual(["k1"]);
});

test("BLD-6 an answer that isn't MCP is distinguished from no answer", async () => {
  const answer = (status: number, body: string, headers = {}) =>
    serve((_request, response) => {
      response.writeHead(status, headers).end(body);
    });
  const options = { timeoutMs: 3_000 };
  const html = await answer(200, "<h1>hi</h1>", { "content-type": "text/html" });
  expect(await codeOf(readManifest(html, options))).toBe("not_mcp");
  expect(await codeOf(readManifest(await answer(404, "no"), options))).toBe("not_found");
  expect(await codeOf(readManifest(await answer(401, "no"), options))).toBe("unauthorized");
  expect(await codeOf(readManifest(await answer(403, "no"), options))).toBe("forbidden");
  expect(await codeOf(readManifest(await answer(502, "no"), options))).toBe("unreachable");
  const gone = await listen(() => {});
  await gone.close();
  expect(await codeOf(readManifest({ url: gone.url }, options))).toBe("unreachable");
  expect(await codeOf(readManifest({ socketPath: gone.socketPath }, options))).toBe("unreachable");
  const silent = await serve(() => {});
  expect(await codeOf(readManifest(silent, { timeoutMs: 300 }))).toBe("timeout");
});

const otherCaller = { "x-caller": "somebody" };
const recordOf = (socketPath: string) => recordAnswers({ socketPath }, { timeoutMs: 10_000, otherCaller });

test("GW-12 a server that is too slow to be recorded is reported as slow, not as no MCP server", async () => {
  const { socketPath } = await serve(() => {});
  expect(await codeOf(recordAnswers({ socketPath }, { timeoutMs: 50, otherCaller }))).toBe("timeout");
});

test("GW-12 answers to handshakes and all pages of lists are recorded in each revision, with the server's cursors", async () => {
  const { socketPath } = await serve(legacy(() => legacyPagedServer()).handler);
  const { answers, variesBy } = await recordOf(socketPath);
  expect(variesBy).toBeNull();
  expect(answers.conversations.map(({ requested, hasSession }) => [requested, hasSession])).toEqual(
    expect.arrayContaining([
      ["2025-03-26", true],
      ["2025-06-18", true],
      ["2025-11-25", true],
    ]),
  );
  const pages = Object.entries(answers.conversations.find(({ requested }) => requested === "2025-11-25")?.answers ?? {})
    .filter(([key]) => key.startsWith("tools/list"))
    .map(([key, { text }]) => ({ key, page: JSON.parse(`{${answers.texts[text]}}`).result }));
  expect(pages.flatMap(({ page }) => page.tools)).toHaveLength(130);
  for (const { page } of pages.slice(0, -1)) {
    expect(pages.map(({ key }) => key)).toContain(`tools/list ${page.nextCursor}`);
  }
});

test("GW-12 numbers keep their spelling, and a server without a list or with one era is recorded as such", async () => {
  const { socketPath } = await serve(modern());
  const { answers } = await recordOf(socketPath);
  expect(answers.conversations.at(-1)).toMatchObject({ requested: "2026-07-28", version: "2026-07-28" });
  const raw = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s" });
    const result =
      '{"protocolVersion":"2025-06-18","tools":[{"maximum":1e400,"minimum":1.0,"id":12345678901234567890}]}';
    response.end(`{"id":1,"jsonrpc":"2.0","result":${result}}`);
  });
  const recorded = await recordOf(raw.socketPath);
  expect(recorded.answers.texts).toContain(
    '"result":{"protocolVersion":"2025-06-18","tools":[{"maximum":1e400,"minimum":1.0,"id":12345678901234567890}]}',
  );
});

test("GW-12 a list that depends on the caller is found out", async () => {
  const { handler } = legacy(legacyToolServer);
  const { socketPath } = await serve((request, response) => {
    if (request.headers["x-caller"] === undefined || request.headers["mcp-session-id"] === undefined) {
      return handler(request, response);
    }
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    return response.end('{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}');
  });
  expect((await recordOf(socketPath)).variesBy).toMatch(/list$|^ping$/);
});
