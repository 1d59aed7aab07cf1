import { isBacklogFull, isDialFailure } from "@towpath/runner-api";
import type { Logger } from "pino";
import { type Dispatcher, errors } from "undici";
import type { AnswerEnd } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { idForClient, type SessionHolder, type SessionIds } from "../policy/sessions.ts";
import { createAnswerFilter, Withheld } from "../policy/tool-lists.ts";
import { type ObserverParts, observe } from "../record/observe.ts";
import { FilteringHandler, type HeadController } from "./filtering-handler.ts";
import { headersForClient, sessionIdHeader, withSessionId } from "./headers.ts";

export type ForwardParts = ObserverParts & { sessionIds: SessionIds; log: Logger };

/** Where a request goes. */
export type Upstream = {
  readonly dispatcher: Dispatcher;
  readonly path: string;
  /** Flat list of names and values. */
  readonly headers: string[];
  /** Who holds a session that begins. */
  readonly holder: SessionHolder;
  /** Whether an answer with this status is not sent on: the caller makes something else of it. */
  readonly isLeftOut: (status: number, headers: AnswerHeaders) => boolean;
  /** Which of the server's headers the client may get, by their names in lower case; absent: all that headers.ts lets pass. */
  readonly mayPassHeader?: (name: string) => boolean;
  /** Called when the answer begins. */
  readonly onBegin?: () => void;
  /** How long a client waits for the answer to begin; absent: as the dispatcher says. A call without its client goes on. */
  readonly answerMs?: number;
};

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What came of it. */
export type Forwarded =
  /** The answer is complete; `sendEnd` sends the client the rest of it. */
  | { readonly end: "complete"; readonly sendEnd: () => void }
  | { readonly end: "left-out"; readonly status: number }
  | { readonly end: "client-closed" | "server-closed" | "withheld" }
  /** No answer began. */
  | { readonly end: "failed"; readonly error: Error };

/** Up to this size an answer is written together with its head. */
const oneWriteBytes = 16 * 1024;
const clientClosed = new Error("the client closed the connection");
const leftOut = new Error("the answer is not sent on");

/**
 * Sends a request to a server, and its answer to the client as it arrives: headers at once, no buffering except under
 * backpressure from a slow client, closes passed on in both directions (GW-3). Never rejects.
 */
export function forward(parts: ForwardParts, admitted: Admitted, upstream: Upstream): Promise<Forwarded> {
  return new Promise((resolve) => {
    const handler = new ForwardHandler(parts, { admitted, upstream, resolve });
    const { call, received, body } = admitted;
    call.response.on("close", handler.onClientClose);
    upstream.dispatcher.dispatch(
      {
        path: upstream.path,
        method: received.method,
        headers: upstream.headers,
        body: body.length > 0 ? body : null,
        // Never retry on a dead connection: only a failed dial guarantees that nothing was sent.
        idempotent: false,
        // Nothing is pipelined, so no other request waits for this one's head.
        blocking: false,
        ...(upstream.answerMs !== undefined && { headersTimeout: 0 }),
      },
      admitted.listedTools === null && admitted.change === null
        ? handler
        : new FilteringHandler(handler, (headers) => createAnswerFilter(admitted, headers)),
    );
  });
}

/** The end of a call whose answer never began, for a server on a socket. */
export function failureOfServer(error: Error): AnswerEnd {
  return isBacklogFull(error) ? "backlog-full" : isDialFailure(error) ? "dial-failed" : "no-answer";
}

type Forwarding = {
  readonly admitted: Admitted;
  readonly upstream: Upstream;
  readonly resolve: (forwarded: Forwarded) => void;
};

class ForwardHandler implements Dispatcher.DispatchHandler {
  readonly #parts: ForwardParts;
  readonly #admitted: Admitted;
  readonly #upstream: Upstream;
  readonly #resolve: (forwarded: Forwarded) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #started = false;
  #ended = false;
  /** The server has ended its answer; the client may not have all of it yet. */
  #isWhole = false;
  #clientClosed = false;
  #pieces = 0;
  /** Whether anything has been sent to the client, the head included. */
  #hasSent = false;
  /** The client doesn't get the body. */
  #isWithheld = false;
  /** The head of a stream until something is sent: if the answer is complete by then, the head has its length. */
  #head: { readonly status: number; readonly headers: string[] } | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** Bytes of the answer still to come; null for a stream. */
  #bytesLeft: number | null = null;
  /** The last piece completes the answer for the client, so it is sent at the end. */
  #lastPiece: Buffer | null = null;

  constructor(parts: ForwardParts, { admitted, upstream, resolve }: Forwarding) {
    this.#parts = parts;
    this.#admitted = admitted;
    this.#upstream = upstream;
    this.#resolve = resolve;
  }

  readonly onClientClose = (): void => {
    if (this.#ended) return;
    if (!this.#admitted.kept?.goesOn(this.#leave)) this.#leave();
    // It may wait for the client to take more.
    else if (this.#controller?.paused) this.#controller.resume();
  };

  readonly #leave = (): void => {
    if (this.#ended) return;
    this.#clientClosed = true;
    // End first: `abort` reports an error synchronously, which would look like the server's.
    this.#end({ end: "client-closed" });
    this.#controller?.abort(clientClosed);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#clientClosed) controller.abort(clientClosed);
    const { answerMs } = this.#upstream;
    if (answerMs !== undefined) this.#timer = setTimeout(this.#onLate, answerMs).unref();
  }

  readonly #onLate = (): void => {
    if (!this.#admitted.kept?.isUnattended) this.#controller?.abort(new errors.HeadersTimeoutError());
  };

  onResponseStart(controller: HeadController, status: number, headers: AnswerHeaders): void {
    if (status < 200 || this.#ended) return;
    clearTimeout(this.#timer);
    const { isLeftOut, mayPassHeader, onBegin } = this.#upstream;
    const { call, site } = this.#admitted;
    if (isLeftOut(status, headers)) {
      this.#end({ end: "left-out", status });
      controller.abort(leftOut);
      return;
    }
    this.#started = true;
    this.#admitted.received.answer.begin(this.#admitted, status, headers);
    onBegin?.();
    const sessionId = this.#sessionIdFor(headers);
    const { request, response } = call;
    // The call goes on without its client.
    if (response.destroyed) return;
    if (response.headersSent) {
      // The stream was opened while the server slept. The client learns of a refusal with its next request.
      this.#isWithheld = status !== 200;
      return;
    }
    const all = Array.isArray(controller.rawHeaders) ? controller.rawHeaders : [];
    const raw = mayPassHeader ? all.filter((_, at) => mayPassHeader(String(all[at - (at % 2)]).toLowerCase())) : all;
    const passed = headersForClient(raw, { requestId: call.id, extra: corsHeaders(request.headers.origin), site });
    const head = { status, headers: sessionIdHeader in headers ? withSessionId(passed, sessionId) : passed };
    // Without a length the response is a stream whose first byte may be minutes off: send the head once this turn of
    // the event loop has shown that no data came with it. With a length the body follows at once, and both are sent
    // together.
    const length = headers["content-length"];
    if (length === undefined) {
      this.#head = head;
      setImmediate(this.#sendHeadAlone);
    } else {
      this.#bytesLeft = Number(length);
      response.writeHead(head.status, head.headers);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended || this.#isWithheld) return;
    this.#pieces++;
    observe(this.#parts, this.#admitted, chunk);
    this.#admitted.kept?.push(chunk);
    if (this.#bytesLeft !== null) {
      this.#bytesLeft -= chunk.length;
      if (this.#bytesLeft === 0) {
        this.#lastPiece = chunk;
        return;
      }
    }
    this.#parts.recorder.onPersisted(() => this.#write(controller, chunk));
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    this.#isWhole = true;
    this.#end({ end: "complete", sendEnd: this.#sendEnd });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#ended) return;
    if (error instanceof Withheld) {
      this.#sendHead();
      this.#end({ end: "withheld" });
    } else if (this.#started) {
      this.#end({ end: "server-closed" });
      this.#parts.recorder.onPersisted(() => {
        this.#sendHead();
        // Not `end`: a truncated response must not look complete.
        this.#response.destroy();
      });
    } else this.#end({ end: "failed", error });
  }

  get #response() {
    return this.#admitted.call.response;
  }

  /** The session id that the client gets in place of the server's; null: none. */
  #sessionIdFor(headers: AnswerHeaders): string | null {
    const given = headers[sessionIdHeader];
    const { holder } = this.#upstream;
    const id = idForClient(this.#parts.sessionIds, this.#admitted, { holder, given });
    if (id === null && given !== undefined) {
      this.#parts.log.warn({ deploymentId: holder.deploymentId }, "a server's session id is too long; it was left out");
    }
    return id;
  }

  readonly #sendEnd = (): void => {
    const response = this.#response;
    const last = this.#lastPiece;
    if (response.destroyed) return;
    if (last !== null) this.#head?.headers.push("content-length", String(last.length));
    this.#writeHead();
    if (last === null) response.end();
    // A string is written together with the head; a buffer would need a second, slower write.
    else if (!this.#hasSent && last.length <= oneWriteBytes) response.end(last.toString("latin1"), "latin1");
    else response.end(last);
  };

  readonly #sendHeadAlone = (): void => {
    // Data that has arrived by now is sent with the head.
    if (this.#pieces === 0 && !this.#ended) this.#sendHead();
  };

  /** Sends the head of a stream unless it has been sent. */
  #sendHead(): void {
    if (!this.#started || this.#bytesLeft !== null || this.#hasSent) return;
    this.#hasSent = true;
    this.#writeHead();
    this.#response.flushHeaders();
  }

  #writeHead(): void {
    if (this.#head) this.#response.writeHead(this.#head.status, this.#head.headers);
    this.#head = null;
  }

  #write(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const response = this.#response;
    if (response.destroyed) return;
    // A short stream was complete before its row was on disk: one write instead of one for each chunk's parts.
    if (this.#head && this.#isWhole && this.#pieces === 1 && chunk.length <= oneWriteBytes) {
      this.#lastPiece = chunk;
      return;
    }
    this.#writeHead();
    this.#hasSent = true;
    if (response.write(chunk)) return;
    controller.pause();
    response.once("drain", () => controller.resume());
  }

  #end(forwarded: Forwarded): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    if (forwarded.end !== "failed") this.#admitted.received.answer.end = forwarded.end;
    // The next attempt adds the listener again.
    if (forwarded.end !== "complete") this.#response.off("close", this.onClientClose);
    this.#resolve(forwarded);
  }
}
