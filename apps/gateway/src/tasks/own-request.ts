import { peekRequest } from "@towpath/mcp/peek";
import { type Admitted, receive } from "../call/states.ts";
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
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const time = Date.now();
  const id = newRequestId(time);
  const named: Record<string, string> = name === null ? {} : { "mcp-name": headerValue(name) };
  const { method } = message;
  const isRouted = from.peek.era === "modern" && method !== undefined;
  const routing: Record<string, string> = isRouted ? { "mcp-method": method, ...named } : {};
  const { "mcp-name": _name, ...others } = from.call.request.headers;
  const given = headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1] ?? ""]] : []));
  const request = { ...from.call.request, headers: { ...others, ...routing, ...Object.fromEntries(given) } };
  // A portal that asks waits for another answer.
  const portal = from.call.portal && { ...from.call.portal, answer: null };
  const call = { ...from.call, id, time, request, body, response, portal };
  const received = receive(call, null);
  const isOwn = (header: string) =>
    /^mcp-(?:method|name|param-.*)$/i.test(header) || header.toLowerCase() === requestIdHeader;
  const passed = from.headers.filter((_, at) => !isOwn(from.headers[at - (at % 2)] ?? ""));
  return {
    ...from,
    call,
    received,
    body,
    bodyBytes: body.length,
    peek: peekRequest(body, received.hints),
    headers: [...passed, ...Object.entries(routing).flat(), requestIdHeader, id, ...headers],
    listedTools: null,
    change: null,
    kept: null,
  };
}
