import { peekRequest } from "@towpath/mcp/peek";
import { type Admitted, type RoutedCall, receive } from "../call/states.ts";
import { TaskResponse } from "../kept/task-response.ts";
import type { Message } from "../portal/messages-in.ts";
import { headerValue } from "../portal/portal-request.ts";
import { newRequestId, requestIdHeader } from "../record/request-id.ts";

type Own = {
  readonly message: Message & { readonly method?: string };
  /** What Mcp-Name repeats; null: nothing. */
  readonly name: string | null;
  /** `Mcp-Param-*`, flat. */
  readonly headers?: readonly string[];
  readonly response?: TaskResponse;
};

/** A message of the gateway's own to the server of a request, as its caller. Nobody gets the answer. */
export function ownRequest(from: Admitted, own: Own): Admitted {
  const { message, name, headers = [], response = new TaskResponse(null) } = own;
  const { method } = message;
  const named: Record<string, string> = name === null ? {} : { "mcp-name": headerValue(name) };
  const isRouted = from.peek.era === "modern" && method !== undefined;
  const routing: Record<string, string> = isRouted ? { "mcp-method": method, ...named } : {};
  const { "mcp-name": _name, ...others } = from.call.request.headers;
  const given = headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1] ?? ""]] : []));
  const request = { ...from.call.request, headers: { ...others, ...routing, ...Object.fromEntries(given) } };
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return inPlaceOf(from, { request, body, response, headers: [...Object.entries(routing).flat(), ...headers] });
}

/** Resumes a stream of the server of a request behind an event, as its caller. */
export function resumingRequest(from: Admitted, lastEventId: string): Admitted {
  const { "content-type": _type, ...others } = from.call.request.headers;
  const own = { accept: "text/event-stream", "last-event-id": lastEventId };
  const request = { ...from.call.request, method: "GET", headers: { ...others, ...own } };
  const response = new TaskResponse(null);
  return inPlaceOf(from, { request, body: Buffer.alloc(0), response, headers: Object.entries(own).flat() });
}

type InPlace = Pick<RoutedCall, "request"> & {
  readonly body: Buffer;
  readonly response: TaskResponse;
  /** In place of the request's own of these kinds, flat. */
  readonly headers: readonly string[];
};

function inPlaceOf(from: Admitted, { request, body, response, headers }: InPlace): Admitted {
  const time = Date.now();
  const id = newRequestId(time);
  // A portal that asks waits for another answer.
  const portal = from.call.portal && { ...from.call.portal, answer: null };
  const call = { ...from.call, id, time, request, body, response, portal };
  const received = receive(call, null);
  const isGet = request.method === "GET";
  const isOwn = (header: string) =>
    /^mcp-(?:method|name|param-.*)$/i.test(header) ||
    header.toLowerCase() === requestIdHeader ||
    (isGet && /^(?:accept|content-type|last-event-id)$/i.test(header));
  const passed = from.headers.filter((_, at) => !isOwn(from.headers[at - (at % 2)] ?? ""));
  return {
    ...from,
    call,
    received,
    body,
    bodyBytes: body.length,
    peek: peekRequest(body, received.hints),
    headers: [...passed, requestIdHeader, id, ...headers],
    listedTools: null,
    change: null,
    kept: null,
  };
}
