import { parseExactly } from "../peek/exact-json.ts";
import type { Connection } from "./connection.ts";

export type RawAnswer = {
  /** HTTP status. */
  readonly status: number;
  readonly sessionId: string | null;
  /**
   * With the request's id (`hasId`) the answer's `result` or `error` as JSON text, with its name; else the whole body
   * as JSON text. Null for a body that is no JSON.
   */
  readonly answer: { readonly text: string; readonly hasId: boolean } | null;
  readonly result: Readonly<Record<string, unknown>> | null;
  /** Code of the JSON-RPC error; null without one. */
  readonly errorCode: number | null;
};

export type RawMessage = {
  readonly id?: number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
};

/**
 * Posts one JSON-RPC message and reads its answer in wire format, which the library's client doesn't expose.
 *
 * @throws errors of the network
 */
export async function exchange(
  connection: Connection,
  message: RawMessage,
  { headers, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<RawAnswer> {
  const response = await connection.fetch(connection.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal,
  });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const messages = (isStream ? eventsOf(text) : [text]).map(parsed).filter(isObject);
  const own = messages.find(({ id, method }) => id === message.id && id !== undefined && method === undefined);
  const { result, error } = own ?? {};
  return {
    status: response.status,
    sessionId: response.headers.get("mcp-session-id"),
    answer: own ? withId(own) : wholeBody(messages),
    result: isObject(result) ? result : null,
    errorCode: isObject(error) && typeof error.code === "number" ? error.code : null,
  };
}

/** Requests a stream by GET, and ends it at once. `text`: the body of a refusal, if it is JSON; else empty. */
export async function openStream(
  connection: Connection,
  { headers, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly text: string }> {
  const ended = new AbortController();
  const response = await connection.fetch(connection.url, {
    headers: { accept: "text/event-stream", ...headers },
    signal: AbortSignal.any([signal, ended.signal]),
  });
  const { status } = response;
  if (status !== 200) return { status, text: wholeBody([parsed(await response.text())].filter(isObject))?.text ?? "" };
  await response.body?.cancel().catch(() => {});
  ended.abort();
  return { status, text: "" };
}

/** The messages of an event stream that has ended. */
function eventsOf(text: string): string[] {
  return text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((event) => {
    const data = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
    const joined = data.map((line) => line.slice(5).replace(/^ /, "")).join("\n");
    return joined.trim() === "" ? [] : [joined];
  });
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return null;
  }
}

function withId({ result, error }: Record<string, unknown>): RawAnswer["answer"] {
  const [name, value] = result === undefined ? ["error", error] : ["result", result];
  return value === undefined ? null : { text: `"${name}":${JSON.stringify(value)}`, hasId: true };
}

const wholeBody = ([body]: readonly Record<string, unknown>[]): RawAnswer["answer"] =>
  body === undefined ? null : { text: JSON.stringify(body), hasId: false };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
