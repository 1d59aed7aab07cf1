import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { McpServer as LegacyMcpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { completable, inputRequired, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Listening, legacy, listen, modern } from "./servers.ts";

// Servers that send more than an answer: progress, log messages, questions to the person and to a model.

const seats = {
  message: "How many seats?",
  requestedSchema: {
    type: "object" as const,
    properties: { seats: { type: "integer" as const } },
    required: ["seats"],
  },
};
const question = {
  messages: [{ role: "user" as const, content: { type: "text" as const, text: "Name a colour." } }],
  maxTokens: 50,
};
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const cities = ["Oslo", "Oxford", "Paris"];

function modernTalker(): McpServer {
  const server = new McpServer({ name: "talker", version: "1.0.0" }, { capabilities: { logging: {} } });
  server.registerTool("work", { inputSchema: z.object({ steps: z.number() }) }, async ({ steps }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; step <= steps; step++) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: step, total: steps, message: `step ${step}` },
        });
      await ctx.mcpReq.log("info", { step }, "worker");
    }
    return text(`**done** after ${steps}`);
  });
  server.registerTool("book", { inputSchema: z.object({}) }, async (_args, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.seats as { action: string; content?: { seats: number } } | undefined;
    if (!answer) return inputRequired({ inputRequests: { seats: inputRequired.elicit(seats) } });
    return text(answer.action === "accept" ? `booked ${answer.content?.seats}` : `not booked: ${answer.action}`);
  });
  server.registerTool("paint", { inputSchema: z.object({}) }, async (_args, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.colour as { content: { text: string }; model: string } | undefined;
    if (!answer) return inputRequired({ inputRequests: { colour: inputRequired.createMessage(question) } });
    return text(`painted ${answer.content.text} as ${answer.model} says`);
  });
  server.registerTool("fails", { inputSchema: z.object({}) }, async () => {
    throw new Error("no such account");
  });
  server.registerTool("wait", { inputSchema: z.object({}) }, async (_args, ctx) => {
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener("abort", resolve, { once: true }));
    return text("late");
  });
  server.registerTool("show", { inputSchema: z.object({ password: z.string() }) }, async () => ({
    content: [
      { type: "text", text: "# A title\n\n<b onclick=x>raw</b> and [a link](https://example.com/docs)" },
      { type: "image", data: png, mimeType: "image/png" },
      { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
      { type: "resource_link", uri: "city://Oslo", name: "Oslo" },
      { type: "resource", resource: { uri: "note://1", mimeType: "text/markdown", text: "*embedded*" } },
    ],
    structuredContent: { ok: true },
  }));
  server.registerTool(
    "wipe",
    {
      inputSchema: z.object({ folder: z.string().min(3), copies_kept: z.string().optional(), copies: z.number() }),
      annotations: { destructiveHint: true },
    },
    async ({ folder }) => text(`wiped ${folder}`),
  );
  server.registerResource(
    "city",
    new ResourceTemplate("city://{name}", {
      list: undefined,
      complete: { name: (value) => cities.filter((city) => city.startsWith(value)) },
    }),
    {},
    async (uri) => ({ contents: [{ uri: uri.href, text: "a city" }] }),
  );
  server.registerPrompt(
    "visit",
    {
      argsSchema: z.object({
        city: completable(z.string(), (value) => cities.filter((city) => city.startsWith(value))),
      }),
    },
    async ({ city }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Plan a day in **${city}**.` } }],
    }),
  );
  return server;
}

function legacyTalker(): LegacyMcpServer {
  const server = new LegacyMcpServer({ name: "talker", version: "1.0.0" }, { capabilities: { logging: {} } });
  server.registerTool("work", { inputSchema: { steps: z.number() } }, async ({ steps }, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let step = 1; step <= steps; step++) {
      if (progressToken !== undefined)
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress: step, total: steps, message: `step ${step}` },
        });
      await extra.sendNotification({
        method: "notifications/message",
        params: { level: "info", logger: "worker", data: { step } },
      });
    }
    return text(`**done** after ${steps}`);
  });
  server.registerTool("book", { inputSchema: {} }, async () => {
    const { action, content } = await server.server.elicitInput(seats);
    return text(action === "accept" ? `booked ${content?.seats}` : `not booked: ${action}`);
  });
  server.registerTool("paint", { inputSchema: {} }, async () => {
    const { content, model } = await server.server.createMessage(question);
    return text(`painted ${Array.isArray(content) ? "" : content.type === "text" && content.text} as ${model} says`);
  });
  return server;
}

/** A received request, with its HTTP method and its JSON-RPC method. All paths are served alike. */
type ReceivedRequest = {
  readonly http: string;
  readonly path: string;
  readonly method: string | null;
  readonly headers: IncomingHttpHeaders;
};

export type Talker = Listening & { readonly requests: ReceivedRequest[]; forgetSessions(): void };

/** A server of 2026-07-28, or of 2025-11-25 with sessions. Each response names a row of the log, as the gateway's do. */
export async function talker(era: "modern" | "legacy"): Promise<Talker> {
  const requests: ReceivedRequest[] = [];
  const old = legacy(legacyTalker);
  const handler = era === "modern" ? modern(modernTalker) : old.handler;
  const listening = await listen((request, response) => {
    const { method: http = "", url: path = "", headers } = request;
    requests.push({ http, path, method: methodHeader(headers), headers });
    response.setHeader("towpath-request-id", `00000000-0000-7000-8000-${String(requests.length).padStart(12, "0")}`);
    const session = request.headers["mcp-session-id"]?.toString();
    if (session !== undefined && !old.sessions.has(session)) return response.writeHead(404).end();
    return (handler as RequestListener)(request, response);
  });
  return { ...listening, requests, forgetSessions: () => old.sessions.clear() };
}

const methodHeader = (headers: IncomingHttpHeaders) => headers["mcp-method"]?.toString() ?? null;
