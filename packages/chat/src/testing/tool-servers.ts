import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { McpServer as LegacyMcpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import type { Manifest } from "@towpath/mcp/manifest";
import { z } from "zod";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const readOnly = { readOnlyHint: true };

/** A received request. */
type Seen = { readonly method: string; readonly client: string | null; readonly authorization: string | null };

export type RunningToolServer = { readonly url: string; readonly seen: Seen[]; close(): Promise<void> };

function modernServer(): McpServer {
  const server = new McpServer({ name: "tools", version: "1.0.0" });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool(
    "add",
    { inputSchema: z.object({ a: z.number(), b: z.number() }), annotations: readOnly },
    async ({ a, b }) => ({
      ...text(String(a + b)),
      structuredContent: { sum: a + b },
    }),
  );
  server.registerTool("files.delete", { inputSchema: z.object({ path: z.string() }) }, async ({ path }) =>
    text(`deleted ${path}`),
  );
  server.registerTool("fails", { inputSchema: z.object({}), annotations: readOnly }, async () => {
    throw new Error("no such account");
  });
  server.registerTool("picture", { inputSchema: z.object({}), annotations: readOnly }, async () => ({
    content: [{ type: "image", data: png, mimeType: "image/png" }],
  }));
  server.registerTool("slow", { inputSchema: z.object({}), annotations: readOnly }, async () => {
    await sleep(20_000, undefined, { ref: false });
    return text("late");
  });
  server.registerTool("large", { inputSchema: z.object({}), annotations: readOnly }, async () =>
    text("x".repeat(600_000)),
  );
  server.registerTool("leak", { inputSchema: z.object({}), annotations: readOnly }, async () =>
    text("the password is hunter2-hunter2"),
  );
  server.registerTool("book", { inputSchema: z.object({}), annotations: readOnly }, async (_args, ctx) => {
    const answers = ctx.mcpReq.inputResponses as
      | Record<string, { action: string; content?: { seats?: number } }>
      | undefined;
    const answer = answers?.seats;
    if (answer === undefined) {
      return inputRequired({
        inputRequests: {
          seats: inputRequired.elicit({
            message: "How many seats?",
            requestedSchema: { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] },
          }),
        },
      });
    }
    return text(answer.action === "accept" ? `booked ${answer.content?.seats}` : `not booked: ${answer.action}`);
  });
  server.registerResource("motd", "text://motd", {}, async (uri) => ({ contents: [{ uri: uri.href, text: "hello" }] }));
  return server;
}

/** A server of 2026-07-28 with tools for the chat's tests. Each response names a row of the log, as the gateway's do. */
export async function modernTools(): Promise<RunningToolServer> {
  const handler = createMcpHandler(modernServer, { legacy: "reject" });
  return listen(async (request, body) => handler.fetch(new Request(request.url, { ...request, body })));
}

type WebHandler = (
  request: { readonly url: string; readonly method: string; readonly headers: Headers },
  body: Uint8Array<ArrayBuffer> | null,
) => Promise<Response>;

async function listen(handle: WebHandler): Promise<RunningToolServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const bytes = new Uint8Array(await buffer(request));
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    seen.push(seenIn(bytes, headers));
    const { method = "GET", url = "/" } = request;
    const answer = await handle({ url: `http://localhost${url}`, method, headers }, bytes.length > 0 ? bytes : null);
    const id = `00000000-0000-7000-8000-${String(seen.length).padStart(12, "0")}`;
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "towpath-request-id": id });
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function seenIn(bytes: Uint8Array, headers: Headers): Seen {
  const message = z
    .object({ method: z.string().default(""), params: z.record(z.string(), z.unknown()).default({}) })
    .catch({ method: "", params: {} })
    .parse(bytes.length > 0 ? JSON.parse(new TextDecoder().decode(bytes)) : {});
  const { clientInfo, _meta } = message.params as {
    clientInfo?: { name: string };
    _meta?: Record<string, { name?: string }>;
  };
  const client = clientInfo?.name ?? _meta?.["io.modelcontextprotocol/clientInfo"]?.name ?? null;
  return { method: message.method, client, authorization: headers.get("authorization") };
}

/** A 2025 server, which sends a request of its own while a call runs. */
export async function legacyTools(): Promise<RunningToolServer> {
  const seen: Seen[] = [];
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const server = createServer(async (request, response) => {
    const id = String(request.headers["mcp-session-id"] ?? "");
    const known = transports.get(id);
    if (known) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (session) => void transports.set(session, transport),
    });
    await legacyServer().connect(transport);
    return transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function legacyServer(): LegacyMcpServer {
  const server = new LegacyMcpServer({ name: "legacy", version: "1.0.0" });
  server.registerTool("book", { inputSchema: {}, annotations: readOnly }, async () => {
    const { action, content } = await server.server.elicitInput({
      message: "How many seats?",
      requestedSchema: { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] },
    });
    const text = action === "accept" ? `booked ${content?.seats}` : `not booked: ${action}`;
    return { content: [{ type: "text", text }] };
  });
  return server;
}

/** The manifest that a build would record of a server with these tools. */
export function manifestOf(tools: readonly { name: string; annotations?: object; inputSchema?: object }[]): Manifest {
  return {
    protocolVersion: "2026-07-28",
    server: { name: "tools", version: "1.0.0" },
    instructions: "Be kind.",
    resources: [],
    templates: [],
    prompts: [],
    tools: tools.map(({ name, annotations, inputSchema }) => ({
      tool_name: name,
      title: null,
      description: `Does ${name}`,
      outputSchema: null,
      inputSchema: { type: "object", ...inputSchema },
      annotations: { ...(annotations ?? readOnly) },
    })),
  };
}
