import { once } from "node:events";
import { sessionIdHeader } from "../forward/headers.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { type ObserverParts, observe } from "../record/observe.ts";
import { requestIdHeader } from "../record/request-id.ts";
import type { Rest } from "./answer.ts";
import type { Admitted } from "./states.ts";

/** `length`: null for a stream. `sessionId`: as the client knows it; null: the answer has none. */
type Head = {
  readonly status: number;
  readonly type: string | null;
  readonly length: number | null;
  readonly sessionId: string | null;
};

function sendHead(admitted: Admitted, { status, type, length, sessionId }: Head): void {
  const { call, received } = admitted;
  const described: Record<string, string> = {};
  if (type !== null) described["content-type"] = type;
  if (length !== null) described["content-length"] = String(length);
  received.answer.begin(admitted, status, described);
  call.response.writeHead(status, [
    ...Object.entries(described).flat(),
    "cache-control",
    "no-store",
    requestIdHeader,
    call.id,
    ...(sessionId === null ? [] : [sessionIdHeader, sessionId]),
    ...corsHeaders(call.request.headers.origin),
  ]);
}

/** Answers a call in place of a server: observed for the log, and complete once its row is on disk. */
export function reply(admitted: Admitted, { body, ...head }: Omit<Head, "length"> & { readonly body: Buffer }): Rest {
  const { answer } = admitted.received;
  sendHead(admitted, { ...head, length: body.length });
  answer.push(body);
  admitted.kept?.push(body);
  answer.end = "complete";
  return () => admitted.call.response.end(body);
}

/** An answer that is sent in pieces. */
export type OpenAnswer = {
  /** Resolves once the client can take more. */
  write: (text: string | Buffer) => Promise<void>;
  send: (message: unknown) => Promise<void>;
  /** `last`: the last piece. */
  end: (last?: Buffer) => Rest;
};

export function openAnswer(
  parts: ObserverParts,
  admitted: Admitted,
  head: Pick<Head, "status" | "type" | "sessionId">,
): OpenAnswer {
  const { response } = admitted.call;
  sendHead(admitted, { ...head, length: null });
  response.flushHeaders();
  const write = async (text: string | Buffer) => {
    const piece = Buffer.from(text);
    observe(parts, admitted, piece);
    admitted.kept?.push(piece);
    parts.recorder.onPersisted(() => void response.write(piece));
    if (response.writableNeedDrain) await Promise.race([once(response, "drain"), once(response, "close")]);
  };
  return {
    write,
    send: (message) => write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
    end(last) {
      const { answer } = admitted.received;
      if (last) answer.push(last);
      if (last) admitted.kept?.push(last);
      answer.end = "complete";
      return () => response.end(last);
    },
  };
}
