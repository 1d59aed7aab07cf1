import type { ServerResponse } from "node:http";
import { isBacklogFull, isDialFailure } from "@towpath/runner-api";
import type { Dispatcher } from "undici";
import { createToolListFilter, Withheld } from "../policy/tool-lists.ts";
import type { Site } from "./cookies.ts";
import { FilteringHandler } from "./filtering-handler.ts";
import { headersForClient, sessionIdHeader, withSessionId } from "./headers.ts";

export type ForwardRequest = {
  upstream: Dispatcher;
  method: string;
  path: string;
  /** Whether an answer with this status is not sent on: the caller makes something else of it. */
  isLeftOut: (status: number) => boolean;
  /** Which of the server's headers the client may get, by their names in lower case; absent: all that headers.ts lets pass. */
  mayPassHeader?: (name: string) => boolean;
  /** How an exchange ended whose answer never began; absent: as a server's on a socket. */
  failureOf?: (error: Error) => ForwardEnd;
  /** Flat list of names and values. */
  headers: string[];
  body: Buffer;
  response: ServerResponse;
  requestId: string;
  /** Headers added to the server's, unless it speaks CORS by itself. */
  extraHeaders: readonly string[];
  site: Site;
  /** The only tools that a list in the answer may name; null where the answer passes unread. */
  listedTools: readonly string[] | null;
  /**
   * The answer's status and headers, before anything of it is sent on. Returns the session id that the client gets in
   * place of the server's; null: none.
   */
  onStart: (status: number, headers: Readonly<Record<string, string | string[] | undefined>>) => string | null;
  onData: (chunk: Buffer) => void;
  /** Calls `send` once the rows that were recorded so far are on disk, in the order of the calls; mostly at once. */
  whenRecorded: (send: () => void) => void;
  /** The whole answer has come. The client gets its end when `sendEnd` is called. */
  onWhole: (sendEnd: () => void) => void;
};

export type ForwardEnd =
  /** The whole response was forwarded. */
  | "complete"
  /** The answer had a status that is not sent on; nothing was. */
  | "left-out"
  /** The client disconnected first; the connection to the server was closed to tell it. */
  | "client-closed"
  /** The server's connection broke during the response; the client's was closed too. */
  | "server-closed"
  /** Nothing was sent to the server: safe to retry. */
  | "dial-failed"
  /** Nothing was sent either, but the server lives: its queue of new connections is full. */
  | "backlog-full"
  /** The connection broke before an answer began; the server may or may not have acted. */
  | "no-answer"
  /** The server did not begin its answer in time. */
  | "timed-out"
  /** The answer can't be filtered, so the client doesn't get it, or not to its end. */
  | "withheld";

/** Up to this size an answer goes out in one write with its head. */
const oneWriteBytes = 16 * 1024;
const clientClosed = new Error("the client closed the connection");
const leftOut = new Error("the answer is not sent on");

/**
 * Sends a request to a server and its answer to the client as it comes: headers at once, no buffering but
 * backpressure from a slow client, closes passed on in both directions (GW-3). Never rejects.
 */
export function forward(request: ForwardRequest): Promise<ForwardEnd> {
  return new Promise((resolve) => {
    const handler = new ForwardHandler(request, resolve);
    const { listedTools } = request;
    request.response.on("close", handler.onClientClose);
    request.upstream.dispatch(
      {
        path: request.path,
        method: request.method,
        headers: request.headers,
        body: request.body.length > 0 ? request.body : null,
        // Never retry on a dead connection: only a failed dial guarantees that nothing was sent.
        idempotent: false,
        // Nothing is pipelined, so no other request waits for this one's head.
        blocking: false,
      },
      listedTools === null
        ? handler
        : new FilteringHandler(handler, (headers) => createToolListFilter(listedTools, headers)),
    );
  });
}

function failureOfServer(error: Error): ForwardEnd {
  return isBacklogFull(error) ? "backlog-full" : isDialFailure(error) ? "dial-failed" : "no-answer";
}

class ForwardHandler implements Dispatcher.DispatchHandler {
  readonly #request: ForwardRequest;
  readonly #resolve: (end: ForwardEnd) => void;
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
  /** The head of a stream until something is sent: if all of it has come by then, it says its length. */
  #head: { readonly status: number; readonly headers: string[] } | null = null;
  /** Bytes of the answer still to come; null for a stream. */
  #bytesLeft: number | null = null;
  /** With it the client has the whole answer, so it is sent with the end. */
  #lastPiece: Buffer | null = null;

  constructor(request: ForwardRequest, resolve: (end: ForwardEnd) => void) {
    this.#request = request;
    this.#resolve = resolve;
  }

  readonly onClientClose = (): void => {
    if (this.#ended) return;
    this.#clientClosed = true;
    // End first: `abort` reports an error synchronously, which would be taken for the server's.
    this.#end("client-closed");
    this.#controller?.abort(clientClosed);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#clientClosed) controller.abort(clientClosed);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#ended) return;
    const { response, requestId, onStart, isLeftOut, mayPassHeader, extraHeaders, site } = this.#request;
    if (isLeftOut(status)) {
      this.#end("left-out");
      controller.abort(leftOut);
      return;
    }
    this.#started = true;
    const sessionId = onStart(status, headers);
    if (response.headersSent) {
      // A stream that was opened while the server slept. Of a refusal, the client hears when it asks again.
      this.#isWithheld = status !== 200;
      return;
    }
    const all = Array.isArray(controller.rawHeaders) ? controller.rawHeaders : [];
    const raw = mayPassHeader ? all.filter((_, at) => mayPassHeader(String(all[at - (at % 2)]).toLowerCase())) : all;
    const passed = headersForClient(raw, { requestId, extra: extraHeaders, site });
    const head = { status, headers: sessionIdHeader in headers ? withSessionId(passed, sessionId) : passed };
    // Without a length the response is a stream whose first byte may be minutes away: send the head once this turn of the
    // event loop has shown that no data came with it. With a length the body follows at once, and both are sent together.
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
    const { onData, whenRecorded } = this.#request;
    this.#pieces++;
    onData(chunk);
    if (this.#bytesLeft !== null) {
      this.#bytesLeft -= chunk.length;
      if (this.#bytesLeft === 0) {
        this.#lastPiece = chunk;
        return;
      }
    }
    whenRecorded(() => this.#write(controller, chunk));
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    const { response, onWhole } = this.#request;
    this.#isWhole = true;
    this.#end("complete");
    onWhole(() => {
      const last = this.#lastPiece;
      if (response.destroyed) return;
      if (last !== null) this.#head?.headers.push("content-length", String(last.length));
      this.#writeHead();
      if (last === null) response.end();
      // A string is written together with the head; a buffer would take a second, slower write.
      else if (!this.#hasSent && last.length <= oneWriteBytes) response.end(last.toString("latin1"), "latin1");
      else response.end(last);
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#ended) return;
    if (error instanceof Withheld) {
      this.#sendHead();
      this.#end("withheld");
      return;
    }
    if (this.#started) {
      const { response, whenRecorded } = this.#request;
      this.#end("server-closed");
      whenRecorded(() => {
        this.#sendHead();
        // Not `end`: a truncated response must not look complete.
        response.destroy();
      });
      return;
    }
    this.#end((this.#request.failureOf ?? failureOfServer)(error));
  }

  readonly #sendHeadAlone = (): void => {
    // What has come meanwhile takes the head along.
    if (this.#pieces === 0 && !this.#ended) this.#sendHead();
  };

  /** Sends the head of a stream, unless it has been sent. */
  #sendHead(): void {
    if (!this.#started || this.#bytesLeft !== null || this.#hasSent) return;
    this.#hasSent = true;
    this.#writeHead();
    this.#request.response.flushHeaders();
  }

  #writeHead(): void {
    if (this.#head) this.#request.response.writeHead(this.#head.status, this.#head.headers);
    this.#head = null;
  }

  #write(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { response } = this.#request;
    if (response.destroyed) return;
    // All of a short stream came while its row was written: one write instead of one for each part of its chunks.
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

  #end(end: ForwardEnd): void {
    this.#ended = true;
    // Another attempt listens again.
    if (end !== "complete") this.#request.response.off("close", this.onClientClose);
    this.#resolve(end);
  }
}
