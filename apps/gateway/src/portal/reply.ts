import { once } from "node:events";
import type { AdmittedRequest } from "../forward/admitted-request.ts";
import { sessionIdHeader } from "../forward/headers.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { answersOf } from "../record/exchange.ts";
import type { Recorder } from "../record/recorder.ts";
import { requestIdHeader } from "../record/request-id.ts";

type Head = { readonly status: number; readonly type: string | null };

/** Every answer names the session of the request; `opened`: the one that it has opened. */
function sendHead(admitted: AdmittedRequest, head: Head, length: number | null, opened: string | null = null): void {
  const { request, response, exchange, session } = admitted;
  const { status, type } = head;
  const sessionId = opened ?? session?.id;
  exchange.status = status;
  exchange.isStream = length === null;
  exchange.answers = answersOf(exchange, type === null ? {} : { "content-type": type });
  response.writeHead(status, [
    ...(type === null ? [] : ["content-type", type]),
    ...(length === null ? [] : ["content-length", String(length)]),
    ...["cache-control", "no-store", requestIdHeader, exchange.id],
    ...(sessionId === undefined ? [] : [sessionIdHeader, sessionId]),
    ...corsHeaders(request.headers.origin),
  ]);
}

/** Answers a client with JSON, or with nothing but a status; complete once its row is on disk. */
export function reply(
  admitted: AdmittedRequest,
  { status, opened = null }: { status: number; opened?: string | null },
  value?: unknown,
): void {
  const { exchange, response } = admitted;
  const body = Buffer.from(value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));
  sendHead(admitted, { status, type: value === undefined ? null : "application/json" }, body.length, opened);
  exchange.answers?.push(body);
  exchange.responseBytes = body.length;
  exchange.end = "complete";
  admitted.sendEnd = () => response.end(body);
}

/** An answer that is sent as it comes. */
export type OpenAnswer = {
  /** Resolves once the client can take more. */
  write: (text: string | Buffer) => Promise<void>;
  send: (message: unknown) => Promise<void>;
  /** `last`: what is left to send. The client gets it once the answer's row is on disk. */
  end: (last?: Buffer) => void;
};

export function openAnswer(admitted: AdmittedRequest, recorder: Recorder, head: Head): OpenAnswer {
  const { exchange, response } = admitted;
  sendHead(admitted, head, null);
  response.flushHeaders();
  const note = (chunk: Buffer) => {
    exchange.responseBytes += chunk.length;
    exchange.answers?.push(chunk);
  };
  const write = async (text: string | Buffer) => {
    const chunk = Buffer.from(text);
    note(chunk);
    // The client has its answer with this piece, however long the stream stays open.
    if (exchange.answers?.isStreamAnswered) recorder.record(exchange);
    recorder.whenSpooled(() => void response.write(chunk));
    if (response.writableNeedDrain) await Promise.race([once(response, "drain"), once(response, "close")]);
  };
  return {
    write,
    send: (message) => write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
    end(last) {
      if (last) note(last);
      exchange.end = "complete";
      admitted.sendEnd = () => response.end(last);
    },
  };
}

export const eventStream = { status: 200, type: "text/event-stream" } as const;
