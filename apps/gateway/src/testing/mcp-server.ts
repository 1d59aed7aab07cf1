import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import { McpServer as LegacyServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer as ModernServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const input = { text: z.string() };
const reply = (text: string) => ({ content: [{ type: "text" as const, text }] });
const failure = { ...reply("it failed"), isError: true };

export type McpListenerOptions = {
  /** Adds the tool `die` to the legacy era, which calls this and never answers. */
  onDie?: () => void;
  /** Adds the tool `wait` to both eras, which calls this and ends only when it is canceled. */
  onWait?: () => void;
  /** Adds the tool `resume` to the legacy era, which ends its stream early, waits for this and fails. */
  beforeResumedAnswer?: () => Promise<unknown>;
  /** Adds the tool `roots` to the legacy era, which asks the client for its roots and counts them. */
  asksRoots?: boolean;
  /** Called with the id of each legacy session that begins. */
  onSession?: (id: string) => void;
  /** Legacy answers are JSON instead of event streams, which begin before the tool runs. */
  json?: boolean;
};

/** A real MCP server of both eras, made with the SDKs: `echo`, `slow` (reports progress) and `fail`. */
export function createMcpListener(options: McpListenerOptions = {}): RequestListener {
  const modern = createMcpHandler(() => createModernServer(options), { legacy: "reject" });
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  return (request, response) => {
    const version = String(request.headers["mcp-protocol-version"] ?? "");
    const answer = version >= "2026-07-28" ? serveModern(request, response) : serveLegacy(request, response);
    answer.catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  };

  async function serveModern(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const aborted = new AbortController();
    response.on("close", () => aborted.abort());
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await modern.fetch(
      new Request(`http://server${request.url}`, {
        method: request.method ?? "GET",
        headers: new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
        signal: aborted.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body)
      Readable.fromWeb(answer.body as never)
        .on("error", () => {})
        .pipe(response);
    else response.end();
  }

  async function serveLegacy(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const transport = sessions.get(id);
      if (transport) return transport.handleRequest(request, response);
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: options.json ?? false,
      ...(options.beforeResumedAnswer ? { eventStore: new InMemoryEventStore(), retryInterval: 50 } : {}),
      onsessioninitialized: (sessionId) => {
        options.onSession?.(sessionId);
        sessions.set(sessionId, transport);
      },
      onsessionclosed: (sessionId) => void sessions.delete(sessionId),
    });
    await createLegacyServer(options).connect(transport);
    await transport.handleRequest(request, response);
  }
}

function createModernServer({ onWait }: McpListenerOptions): ModernServer {
  const server = new ModernServer({ name: "both-eras", version: "1.0.0" });
  const schema = z.object(input);
  // What a client answered to questions is part of the answer, as a server would see it.
  server.registerTool("echo", { inputSchema: schema }, async ({ text }, { mcpReq: { inputResponses: answers } }) =>
    reply(answers === undefined ? text : `${text} ${JSON.stringify(answers)}`),
  );
  server.registerTool("fail", { inputSchema: schema }, async () => failure);
  if (onWait) {
    server.registerTool("wait", { inputSchema: schema }, async () => {
      onWait();
      return new Promise<never>(() => {});
    });
  }
  return server;
}

function createLegacyServer({ onDie, onWait, beforeResumedAnswer, asksRoots }: McpListenerOptions): LegacyServer {
  const server = new LegacyServer({ name: "both-eras", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: input }, async ({ text }) => reply(text));
  server.registerTool("fail", { inputSchema: input }, async () => failure);
  server.registerTool("slow", { inputSchema: input }, async ({ text }, { sendNotification, _meta }) => {
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined) {
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    return reply(text);
  });
  if (onWait) {
    server.registerTool("wait", { inputSchema: input }, async () => {
      onWait();
      return new Promise<never>(() => {});
    });
  }
  if (asksRoots) {
    server.registerTool("roots", { inputSchema: input }, async (_arguments, { requestId }) => {
      const { roots } = await server.server.listRoots(undefined, { relatedRequestId: requestId });
      return reply(String(roots.length));
    });
  }
  if (beforeResumedAnswer) {
    server.registerTool("resume", { inputSchema: input }, async (_arguments, { closeSSEStream }) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      closeSSEStream?.();
      await beforeResumedAnswer();
      return failure;
    });
  }
  if (onDie) {
    server.registerTool("die", { inputSchema: input }, async () => {
      onDie();
      return new Promise<never>(() => {});
    });
  }
  return server;
}
