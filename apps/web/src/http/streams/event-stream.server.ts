import { asTowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";
import { countStream, type StreamReader, watchReader } from "./stream-reader.server.ts";

/** One server-sent event. Browsers send the last `id` as Last-Event-ID when they reconnect. */
type StreamEvent = { readonly event: string; readonly data: unknown; readonly id?: number };

/** Resolves when the reader can take more. Await it, so that no more is read from the database than sent. */
export type Send = (event: StreamEvent) => Promise<void>;

const heartbeatMs = 15_000;
/** How many bytes are buffered for a slow reader before `send` applies backpressure. */
const bufferBytes = 64 * 1024;
/** How long the buffer may stay full before the stream is closed. The reader can resume by Last-Event-ID. */
const defaultMaxLagMs = 30_000;
const open = new Set<AbortController>();

/**
 * Responds with server-sent events (WHATWG HTML, section 9.2) until `produce` returns, the reader disconnects or loses
 * access, or the process stops. `produce` must return when its signal aborts. Its errors are sent to the reader as the
 * event `problem` with `code` and `message`; internal errors are logged.
 *
 * @throws TowpathError `limit_reached` when too many streams are open, of this reader or in total.
 */
export function eventStream(
  request: Request,
  reader: StreamReader,
  produce: (send: Send, signal: AbortSignal) => Promise<void>,
  { maxLagMs = defaultMaxLagMs } = {},
): Response {
  const release = countStream(reader);
  const { controller: stop, release: forget } = endedByStop();
  request.signal.addEventListener("abort", () => stop.abort(), { once: true });
  if (request.signal.aborted) stop.abort();
  const channel = openChannel(stop, maxLagMs);
  const heartbeat = setInterval(channel.heartbeat, heartbeatMs);
  void (async () => {
    try {
      await Promise.race([produce(channel.send, stop.signal), watchReader(reader, stop.signal)]);
    } catch (thrown) {
      if (!stop.signal.aborted) channel.trySend(problemOf(thrown, request));
    } finally {
      clearInterval(heartbeat);
      forget();
      release();
      channel.close();
      stop.abort();
    }
  })();
  const headers = {
    "content-type": "text/event-stream",
    "cache-control": "private, no-store",
    "x-accel-buffering": "no",
  };
  return new Response(channel.body, { headers });
}

/** Aborts when the process stops, until it is released. */
export function endedByStop(): { readonly controller: AbortController; readonly release: () => void } {
  const controller = new AbortController();
  open.add(controller);
  return { controller, release: () => void open.delete(controller) };
}

/** Ends all streams, so that the process can stop. Browsers reconnect and resume. */
export function endEventStreams(): void {
  for (const stream of open) stream.abort();
}

/** Where to resume: Last-Event-ID, otherwise `?after=`; 0 for a new reader. */
export function lastEventId(request: Request): number {
  const header = request.headers.get("last-event-id");
  return header === null ? numberParameter(request, "after") : idOf(header);
}

/** A query parameter that is a positive whole number, such as an id; 0 without one. */
export function numberParameter(request: Request, name: string): number {
  return idOf(new URL(request.url).searchParams.get(name));
}

function idOf(text: string | null): number {
  const id = Number(text ?? 0);
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

function problemOf(thrown: unknown, request: Request): StreamEvent {
  const { code, message } = asTowpathError(thrown);
  if (code === "internal") {
    const { pathname } = new URL(request.url);
    services().log.error({ err: thrown, path: pathname }, "a log stream failed");
  }
  return { event: "problem", data: { code, message } };
}

/** The body of one stream. Aborting `stop` ends it, and a reader that lags for too long aborts `stop`. */
function openChannel(stop: AbortController, maxLagMs: number) {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let hasRoom: (() => void) | undefined;
  let closed = false;
  const write = (text: string) => {
    if (!closed && !stop.signal.aborted) controller?.enqueue(encoder.encode(text));
  };
  const isFull = () => !closed && (controller?.desiredSize ?? 1) <= 0;
  const end = (finish: (stream: ReadableStreamDefaultController<Uint8Array>) => void) => {
    hasRoom?.();
    if (closed || !controller) return;
    closed = true;
    finish(controller);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      pull() {
        hasRoom?.();
      },
      cancel() {
        closed = true;
        stop.abort();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }),
  );
  stop.signal.addEventListener("abort", () => end((stream) => stream.close()), { once: true });
  write("retry: 2000\n\n");
  return {
    body,
    async send(event: StreamEvent): Promise<void> {
      write(asText(event));
      if (!isFull()) return;
      const lagged = setTimeout(() => {
        // Not `close`, which would wait for the reader to take the buffer.
        end((stream) => stream.error(new DOMException("The reader is too slow.", "AbortError")));
        stop.abort();
      }, maxLagMs);
      while (isFull() && !stop.signal.aborted) {
        await new Promise<void>((resume) => {
          hasRoom = resume;
        });
      }
      clearTimeout(lagged);
    },
    trySend: (event: StreamEvent) => write(asText(event)),
    /** Proxies close idle connections. A comment keeps this one open without being an event. */
    heartbeat: () => {
      if (!isFull()) write(": heartbeat\n\n");
    },
    close: () => end((stream) => stream.close()),
  };
}

const asText = ({ event, data, id }: StreamEvent) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A wait that `wake`, a timeout or an abort ends. A `wake` before the wait counts, too. */
export function wakeable(signal: AbortSignal) {
  let woken = false;
  let resume: (() => void) | undefined;
  const wake = () => {
    woken = true;
    resume?.();
  };
  signal.addEventListener("abort", wake);
  return {
    wake,
    /** False after a timeout. */
    async wait(maxMs: number): Promise<boolean> {
      if (!woken && !signal.aborted) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((done) => {
          resume = done;
          timer = setTimeout(done, maxMs);
        });
        clearTimeout(timer);
        resume = undefined;
      }
      const wasWoken = woken;
      woken = false;
      return wasWoken;
    },
  };
}
