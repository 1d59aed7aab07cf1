import { decodeHeaderValue } from "@towpath/mcp/peek";
import { z } from "zod";
import type { RequestHead } from "../call/states.ts";
import { headerOf } from "../forward/headers.ts";
import { asksOfTasks, declaresTasks, tasksExtension } from "./tasks.ts";

/** A JSON-RPC message of a client to a portal. */
export type PortalMessage =
  | PortalRequest
  | { kind: "notification"; method: string; params: Record<string, unknown> }
  /** The answer to a request that one of the portal's servers made. */
  | { kind: "response"; id: string; message: Record<string, unknown> }
  /** Batches, and what is no message at all. */
  | { kind: "invalid"; reason: string };
export type PortalRequest = {
  kind: "request";
  id: string | number;
  method: string;
  params: Record<string, unknown>;
};

const id = z.union([z.string(), z.number()]);
const params = z.record(z.string(), z.unknown()).default({});
const requestSchema = z.object({ jsonrpc: z.literal("2.0"), id, method: z.string(), params });
const notificationSchema = z.object({ jsonrpc: z.literal("2.0"), method: z.string(), params });
const responseSchema = z.looseObject({ jsonrpc: z.literal("2.0"), id: z.string() });

const members = z.record(z.string(), z.unknown()).catch({});
/** What a client or a server put into a message; nothing where it is no object. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> => members.parse(value);

/** Never throws. */
export function parsePortalMessage(body: Buffer): PortalMessage {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return { kind: "invalid", reason: "The body is not JSON." };
  }
  if (Array.isArray(value)) return { kind: "invalid", reason: "A portal takes one message at a time, no batches." };
  const request = requestSchema.safeParse(value);
  if (request.success) return { kind: "request", ...request.data };
  const response = responseSchema.safeParse(value);
  if (response.success && ("result" in response.data || "error" in response.data))
    return { kind: "response", id: response.data.id, message: response.data };
  const notification = notificationSchema.safeParse(value);
  if (notification.success && !(typeof value === "object" && value !== null && "id" in value))
    return { kind: "notification", ...notification.data };
  return { kind: "invalid", reason: "The body is not a JSON-RPC message." };
}

export const modernVersion = "2026-07-28";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const requiredMeta = [versionKey, "io.modelcontextprotocol/clientCapabilities"] as const;
/** What Mcp-Name repeats, by method. Servers read tasks without it too. */
const namedBy: Readonly<Record<string, { readonly key: string; readonly isRequired: boolean }>> = {
  "tools/call": { key: "name", isRequired: true },
  "prompts/get": { key: "name", isRequired: true },
  "resources/read": { key: "uri", isRequired: true },
  "tasks/get": { key: "taskId", isRequired: false },
  "tasks/update": { key: "taskId", isRequired: false },
  "tasks/cancel": { key: "taskId", isRequired: false },
};

/** Why a request of 2026-07-28 is refused with HTTP 400: what its headers and its body don't agree on. */
export type Refused = { readonly code: number; readonly message: string; readonly data?: unknown };

/**
 * Checks what 2026-07-28 asks of each request: revision and capabilities in `_meta`, and headers that say what the body says.
 * A portal must, because it writes the headers that its servers get. Null: the request is valid.
 */
export function checkModern(request: RequestHead, message: PortalRequest): Refused | null {
  const header = headerOf(request, "mcp-protocol-version");
  if (header === undefined) return mismatch("The header MCP-Protocol-Version is missing.");
  const meta = membersOf(message.params._meta);
  const missing = requiredMeta.filter((key) => meta[key] === undefined);
  if (missing.length > 0) return { code: -32602, message: `params._meta lacks ${missing.join(" and ")}.` };
  if (meta[versionKey] !== header) return mismatch("MCP-Protocol-Version differs from params._meta.");
  if (header !== modernVersion) {
    const data = { supported: [modernVersion], requested: header };
    return { code: -32022, message: `Unsupported protocol version: ${header.slice(0, 50)}`, data };
  }
  if (headerOf(request, "mcp-method") !== message.method) return mismatch("Mcp-Method differs from the body's method.");
  const named = namedBy[message.method];
  const name = headerOf(request, "mcp-name");
  if (named && (name !== undefined || named.isRequired)) {
    const isSame = name !== undefined && decodeHeaderValue(name) === message.params[named.key];
    if (!isSame) return mismatch(`Mcp-Name differs from the body's params.${named.key}.`);
  }
  return asksOfTasks(message) && !declaresTasks(message.params) ? lacksTasks : null;
}

const lacksTasks: Refused = {
  code: -32021,
  message: `The client did not declare the extension ${tasksExtension} for this request.`,
  data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
};

const mismatch = (message: string): Refused => ({ code: -32020, message: `Header mismatch: ${message}` });

/** What a server of the portal must see of the client's headers; traceparent apart, which each request has its own of. */
const passedHeader = /^(?:accept|content-type|mcp-protocol-version|mcp-method|mcp-param-.*|user-agent|tracestate)$/;

/** Headers for a server of 2026-07-28: the client's, with the name that the server knows. */
export function protocolHeaders(request: RequestHead, name: string): string[] {
  const kept = Object.entries(request.headers).flatMap(([header, value]) =>
    passedHeader.test(header) && typeof value === "string" ? [header, value] : [],
  );
  return [...kept, "mcp-name", headerValue(name)];
}

/** As 2026-07-28 writes a header's value that isn't plain ASCII. */
export const headerValue = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`;
