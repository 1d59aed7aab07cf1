import { compileShape, type Fields, JsonScanner } from "./json-scanner.ts";
import { parseSmall, smallBytes } from "./small-json.ts";

/** Facts from one JSON-RPC message of a client. */
export type MessagePeek = {
  kind: "request" | "notification" | "response" | "other";
  /** JSON-RPC id; null if there is none, or if it is beyond the scanned part. */
  id: string | number | null;
  method: string | null;
  /** Tool name, prompt name, resource URI or task id. */
  target: string | null;
  /** The request that a `notifications/cancelled` cancels. */
  cancels: string | number | null;
};

/** Facts from a request body. */
export type RequestPeek = Omit<MessagePeek, "kind"> & {
  kind: MessagePeek["kind"] | "batch";
  /** The messages of a batch (2025-03-26 only), at most 100; else the one message; empty for `other`. */
  messages: readonly MessagePeek[];
  /** Number of messages, including those beyond. */
  count: number;
  /** modern: 2026-07-28 and later; legacy: with `initialize` and sessions. */
  era: "legacy" | "modern";
  protocolVersion: string | null;
  clientName: string | null;
  clientVersion: string | null;
};

/** Header values for facts that the body lacks; the body always takes precedence. */
export type PeekHints = {
  /** MCP-Protocol-Version */
  protocolVersion?: string | undefined;
  /** Mcp-Method */
  method?: string | undefined;
  /** Mcp-Name, possibly as `=?base64?…?=` */
  name?: string | undefined;
};

const versionKey = "io.modelcontextprotocol/protocolVersion";
const clientKey = "io.modelcontextprotocol/clientInfo";
const firstModernVersion = "2026-07-28";
const maxMessages = 100;

/** Maximum bytes outside of strings to scan: about 0.1 ms at worst. Most bodies are much shorter. */
const budget = 64 * 1024;

const shape = compileShape({
  id: true,
  method: true,
  result: true,
  error: true,
  params: {
    name: true,
    uri: true,
    taskId: true,
    requestId: true,
    ref: { name: true, uri: true },
    protocolVersion: true,
    clientInfo: { name: true, version: true },
    _meta: { [versionKey]: true, [clientKey]: { name: true, version: true } },
  },
});

const noMembers = compileShape({});

// Computed once: this runs for every request.
const metaVersionSlot = `params._meta.${versionKey}`;
const metaNameSlot = `params._meta.${clientKey}.name`;
const metaVersionOfClientSlot = `params._meta.${clientKey}.version`;
const nothing: Fields = {};

/**
 * Peeks into the body of a POST to an MCP endpoint without parsing it. Never throws; work is bounded, except for
 * counting the messages of a large batch.
 */
export function peekRequest(body: Buffer, hints: PeekHints = {}): RequestPeek {
  const { found, isBatch, isCut, count } = fieldsOf(body);
  const messages = found.map((fields) => toMessage(fields, isCut, hints));
  const first = messages[0];
  const fields = found[0] ?? nothing;
  const metaVersion = text(fields[metaVersionSlot]);
  const protocolVersion = metaVersion ?? hints.protocolVersion ?? text(fields["params.protocolVersion"]);
  const modern = metaVersion !== null || (hints.protocolVersion ?? "") >= firstModernVersion;
  const message = isBatch ? undefined : first;
  return {
    kind: isBatch ? "batch" : (message?.kind ?? "other"),
    id: message?.id ?? null,
    // A body that is no message has no method; a batch has several.
    method: message ? message.method : isBatch ? null : (hints.method ?? null),
    target: message?.target ?? null,
    cancels: message?.cancels ?? null,
    messages,
    count,
    era: modern ? "modern" : "legacy",
    protocolVersion: protocolVersion ?? null,
    clientName: text(fields[metaNameSlot]) ?? text(fields["params.clientInfo.name"]),
    clientVersion: text(fields[metaVersionOfClientSlot]) ?? text(fields["params.clientInfo.version"]),
  };
}

/** Facts from the headers alone, for a request whose body was not read (2026-07-28 has its method and target there). */
export function peekHeaders({ protocolVersion, method, name }: PeekHints): RequestPeek {
  const kind = method === undefined ? "other" : method.startsWith("notifications/") ? "notification" : "request";
  return {
    kind,
    id: null,
    method: method ?? null,
    target: name === undefined ? null : decodeHeaderValue(name),
    cancels: null,
    messages: [],
    count: 0,
    era: (protocolVersion ?? "") >= firstModernVersion ? "modern" : "legacy",
    protocolVersion: protocolVersion ?? null,
    clientName: null,
    clientVersion: null,
  };
}

function fieldsOf(body: Buffer): { found: readonly Fields[]; isBatch: boolean; isCut: boolean; count: number } {
  const small = body.length <= smallBytes ? parseSmall(body, shape) : null;
  if (small) {
    const { messages, isBatch } = small;
    return { found: messages.slice(0, maxMessages), isBatch, isCut: false, count: messages.length };
  }
  const found: Fields[] = [];
  let count = 0;
  const scanner = new JsonScanner(shape, {
    budget,
    onMessage: (fields) => {
      count++;
      if (found.length < maxMessages) found.push(fields);
    },
  });
  scanner.push(body);
  const { isBatch, isExhausted: isCut } = scanner;
  // A message too large to scan completely still has its first members.
  if (scanner.unfinished && isCut) found.push(scanner.unfinished);
  return { found, isBatch, isCut, count: isBatch && isCut ? countOfBatch(body) : Math.max(count, found.length) };
}

/** Messages that are not scanned are executed all the same. */
function countOfBatch(body: Buffer): number {
  let count = 0;
  const scanner = new JsonScanner(noMembers, { budget: Number.POSITIVE_INFINITY, onMessage: () => count++ });
  scanner.push(body);
  return count;
}

function toMessage(fields: Fields, cut: boolean, hints: PeekHints): MessagePeek {
  const id = idOf(fields.id);
  const method = text(fields.method) ?? (cut ? (hints.method ?? null) : null);
  if (method !== null) {
    // In a cut body the id may come later; by the specification all notifications have this prefix.
    const isRequest = id !== null || (cut && !method.startsWith("notifications/"));
    return {
      kind: isRequest ? "request" : "notification",
      id,
      method,
      target: target(method, fields, cut, hints),
      cancels: method === "notifications/cancelled" ? idOf(fields["params.requestId"]) : null,
    };
  }
  const isResponse = fields.result !== undefined || fields.error !== undefined;
  return { kind: isResponse ? "response" : "other", id, method: null, target: null, cancels: null };
}

function target(method: string, fields: Fields, cut: boolean, hints: PeekHints): string | null {
  const found = targetInBody(method, fields);
  return found === null && cut && hints.name !== undefined ? decodeHeaderValue(hints.name) : found;
}

function targetInBody(method: string, fields: Fields): string | null {
  if (method === "tools/call" || method === "prompts/get") return text(fields["params.name"]);
  if (method.startsWith("resources/")) return text(fields["params.uri"]);
  if (method.startsWith("tasks/")) return text(fields["params.taskId"]);
  if (method === "completion/complete") return text(fields["params.ref.name"]) ?? text(fields["params.ref.uri"]);
  return null;
}

/** Decodes the form that 2026-07-28 gives to header values outside of ASCII: `=?base64?…?=`. */
export function decodeHeaderValue(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=_-]*)\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

function idOf(value: Fields[string]): string | number | null {
  return typeof value === "string" || typeof value === "number" ? value : null;
}

function text(value: Fields[string]): string | null {
  return typeof value === "string" ? value : null;
}
