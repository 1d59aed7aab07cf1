import { TowpathError } from "@towpath/core/errors";

/** One server-sent event; `id` is what a browser sends as Last-Event-ID when it comes back. */
export type StreamEvent = { readonly event: string; readonly data: unknown; readonly id?: number };
export type Send = (event: StreamEvent) => void;

const heartbeatMs = 15_000;
const mostStreams = 1000;
const open = new Set<AbortController>();

/**
 * Answers with server-sent events (WHATWG HTML, section 9.2) until `produce` returns, the reader goes away, or the
 * process stops. `produce` must give up when its signal aborts.
 *
 * @throws TowpathError `limit_reached` when this process serves too many already.
 */
export function eventStream(request: Request, produce: (send: Send, signal: AbortSignal) => Promise<void>): Response {
  if (open.size >= mostStreams)
    throw new TowpathError("limit_reached", "Too many log streams are open. Try again in a moment.");
  const abort = new AbortController();
  open.add(abort);
  request.signal.addEventListener("abort", () => abort.abort(), { once: true });
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => {
        if (!abort.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      // Proxies close what is silent; a comment is no event.
      const heartbeat = setInterval(() => write(": still here\n\n"), heartbeatMs);
      const end = () => {
        clearInterval(heartbeat);
        open.delete(abort);
        abort.abort();
        try {
          controller.close();
        } catch {
          // The reader has cancelled: it is closed already.
        }
      };
      write("retry: 2000\n\n");
      produce((event) => write(asText(event)), abort.signal).then(end, end);
      abort.signal.addEventListener("abort", end, { once: true });
    },
    cancel: () => abort.abort(),
  });
  const headers = {
    "content-type": "text/event-stream",
    "cache-control": "private, no-store",
    "x-accel-buffering": "no",
  };
  return new Response(body, { headers });
}

/** Ends all streams: they would keep the process from stopping. Browsers reconnect and go on where they were. */
export function endEventStreams(): void {
  for (const stream of open) stream.abort();
}

/** Where a reader that comes back wants to go on; 0 for a new one. */
export function lastEventId(request: Request): number {
  const id = Number(request.headers.get("last-event-id") ?? 0);
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

const asText = ({ event, data, id }: StreamEvent) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
