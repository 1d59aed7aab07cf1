import { setTimeout as sleep } from "node:timers/promises";
import { asTowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";
import { countStream, type StreamReader } from "./stream-reader.server.ts";

/** One server-sent event; `id` is what a browser sends as Last-Event-ID when it comes back. */
type StreamEvent = { readonly event: string; readonly data: unknown; readonly id?: number };

/** Resolves when the reader can take more: await it, so that no more is read from the database than is sent. */
export type Send = (event: StreamEvent) => Promise<void>;

const heartbeatMs = 15_000;
/** Bytes that wait for a slow reader before `send` makes its caller wait as well. */
const bufferBytes = 64 * 1024;
/** How long a buffer may stay full before the stream is cut. The reader can resume by Last-Event-ID. */
const defaultMaxLagMs = 30_000;
const open = new Set<AbortController>();

/**
 * Answers with server-sent events (WHATWG HTML, section 9.2) until `produce` returns, the reader disconnects or loses
 * access, or the process stops. `produce` must return when its signal aborts. What it throws is logged and sent to the
 * reader as the event `problem` with `code` and `message`.
 *
 * @throws TowpathError `limit_reached` when the reader, or all of them together, have too many streams open.
 */
export function eventStream(
  request: Request,
  reader: StreamReader,
  produce: (send: Send, signal: AbortSignal) => Promise<void>,
  { maxLagMs = defaultMaxLagMs } = {},
): Response {
  const release = countStream(reader);
  const stop = new AbortController();
  open.add(stop);
  request.signal.addEventListener("abort", () => stop.abort(), { once: true });
  if (request.signal.aborted) stop.abort();
  const channel = openChannel(stop, maxLagMs);
  const heartbeat = setInterval(channel.heartbeat, heartbeatMs);
  void (async () => {
    try {
      await Promise.race([produce(channel.send, stop.signal), watch(reader, stop.signal)]);
    } catch (thrown) {
      if (!stop.signal.aborted) channel.tell(problemOf(thrown, request));
    } finally {
      clearInterval(heartbeat);
      open.delete(stop);
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

/** Ends all streams: they would keep the process from stopping. Browsers reconnect and go on where they were. */
export function endEventStreams(): void {
  for (const stream of open) stream.abort();
}

/** Where to resume, from Last-Event-ID or else `?after=`; 0 for a new reader. */
export function lastEventId(request: Request): number {
  const after = () => new URL(request.url).searchParams.get("after");
  const id = Number(request.headers.get("last-event-id") ?? after() ?? 0);
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

/** Rejects when the reader loses access: sessions end, members are removed. Ends with the stream. */
async function watch(reader: StreamReader, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(reader.checkEveryMs, undefined, { signal });
    await reader.check();
  }
}

function problemOf(thrown: unknown, request: Request): StreamEvent {
  const { code, message } = asTowpathError(thrown);
  if (code === "internal") {
    const { pathname } = new URL(request.url);
    services().log.error({ err: thrown, path: pathname }, "a log stream failed");
  }
  return { event: "problem", data: { code, message } };
}

/** The body of one stream. `stop` ends it; a reader that lags for too long aborts `stop`. */
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
        // Not `close`: that would keep waiting for the reader to take what is buffered.
        end((stream) => stream.error(new DOMException("The reader takes too long.", "AbortError")));
        stop.abort();
      }, maxLagMs);
      while (isFull() && !stop.signal.aborted) {
        await new Promise<void>((resume) => {
          hasRoom = resume;
        });
      }
      clearTimeout(lagged);
    },
    tell: (event: StreamEvent) => write(asText(event)),
    /** Proxies close what is silent; a comment is no event. */
    heartbeat: () => {
      if (!isFull()) write(": still here\n\n");
    },
    close: () => end((stream) => stream.close()),
  };
}

const asText = ({ event, data, id }: StreamEvent) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A wait that a notification, a time limit or an abort ends, and that forgets no wake-up that came before it. */
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
    /** False when the time ran out. */
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
