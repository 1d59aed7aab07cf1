import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Server as LegacyServer } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer as LegacyMcpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ListResourcesRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";

export type Listening = { readonly url: string; readonly socketPath: string; close(): Promise<void> };

/** Listens on a random loopback port and on a unix socket with the same handler. */
export async function listen(handler: RequestListener): Promise<Listening> {
  const directory = await mkdtemp(join(tmpdir(), "mcp-"));
  const socketPath = join(directory, "s");
  const tcp = createServer(handler);
  const unix = createServer(handler);
  await Promise.all([
    new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve)),
    new Promise<void>((resolve) => unix.listen(socketPath, resolve)),
  ]);
  const { port } = tcp.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    socketPath,
    close: async () => {
      for (const server of [tcp, unix]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await rm(directory, { recursive: true });
    },
  };
}

function modernServer(): McpServer {
  const server = new McpServer({ name: "modern", version: "2.0.0", title: "Modern" }, { instructions: "Be kind." });
  server.registerTool(
    "add",
    {
      title: "Add",
      description: "Adds",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool("slow", { inputSchema: z.object({}) }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5_000).unref());
    return { content: [] };
  });
  server.registerTool("fails", { inputSchema: z.object({}) }, async () => {
    throw new Error("no luck");
  });
  server.registerResource("motd", "text://motd", { mimeType: "text/plain" }, async (uri) => ({
    contents: [{ uri: uri.href, text: "hello" }],
  }));
  server.registerResource("user", new ResourceTemplate("user://{id}", { list: undefined }), {}, async (uri) => ({
    contents: [{ uri: uri.href, text: "a user" }],
  }));
  server.registerPrompt("greet", { argsSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }],
  }));
  return server;
}

/** Serves 2026-07-28 only. */
export function modern(makeServer: () => McpServer = modernServer): RequestListener {
  const handler = createMcpHandler(makeServer, { legacy: "reject" });
  return async (request, response) => {
    const answer = await handler.fetch(await toWebRequest(request));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  };
}

async function toWebRequest(request: IncomingMessage): Promise<Request> {
  const body = await buffer(request);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  return new Request(`http://localhost${request.url}`, {
    method: request.method ?? "GET",
    headers,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
}

/** A 2025 server with sessions. `sessions` shows which are alive. */
export function legacy(makeServer: () => LegacyMcpServer | LegacyServer): {
  handler: RequestListener;
  sessions: Map<string, StreamableHTTPServerTransport>;
} {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const handler: RequestListener = async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => {
        sessions.set(session, transport);
      },
      onsessionclosed: (session) => {
        sessions.delete(session);
      },
    });
    await makeServer().connect(transport);
    return transport.handleRequest(request, response);
  };
  return { handler, sessions };
}

export function legacyToolServer(): LegacyMcpServer {
  const server = new LegacyMcpServer({ name: "legacy", version: "1.0.0" });
  server.registerTool("echo", { description: "Echoes", inputSchema: { text: z.string() } }, async ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
}

const page = 50;

/** 130 tools in pages of 50; knows resources but no templates. `padding` characters make each tool larger. */
export function legacyPagedServer(padding = 0): LegacyServer {
  const server = new LegacyServer({ name: "paged", version: "1.0.0" }, { capabilities: { tools: {}, resources: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async (request) => {
    const from = Number(request.params?.cursor ?? "0");
    const tools = Array.from({ length: Math.min(page, 130 - from) }, (_, index) => ({
      name: `tool_${from + index}`,
      description: "x".repeat(padding),
      inputSchema: { type: "object" as const },
    }));
    return from + page < 130 ? { tools, nextCursor: String(from + page) } : { tools };
  });
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({ resources: [] }));
  return server;
}

/** One tool, and a list of resources that fails. */
export function legacyBrokenResources(): LegacyServer {
  const server = new LegacyServer({ name: "broken", version: "1.0.0" }, { capabilities: { tools: {}, resources: {} } });
  const tools = [{ name: "fine", inputSchema: { type: "object" as const } }];
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
  server.setRequestHandler(ListResourcesRequestSchema, async () => {
    throw new Error("the catalogue is unavailable");
  });
  return server;
}
