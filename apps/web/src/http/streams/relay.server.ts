import { endedByStop } from "./event-stream.server.ts";
import { countStream, type StreamReader, watchReader } from "./stream-reader.server.ts";

/**
 * Streams the response of another server until it ends, the reader disconnects or loses access, or the process stops;
 * each of these aborts `send`'s signal, which cancels the request there. Only `headers` of the response are passed on.
 *
 * @throws TowpathError `limit_reached` when too many streams are open; errors of `send`
 */
export async function relay(
  request: Request,
  reader: StreamReader,
  send: (signal: AbortSignal) => Promise<Response>,
  headers: readonly string[],
): Promise<Response> {
  const release = countStream(reader);
  const stop = endedByStop();
  const end = () => {
    stop.release();
    release();
    stop.controller.abort();
  };
  const { signal } = stop.controller;
  request.signal.addEventListener("abort", end, { once: true });
  if (request.signal.aborted) end();
  try {
    const answer = await send(signal);
    const passed = new Headers({ "cache-control": "private, no-store", "x-accel-buffering": "no" });
    for (const name of headers) {
      const value = answer.headers.get(name);
      if (value !== null) passed.set(name, value);
    }
    if (answer.body === null) end();
    else void watchReader(reader, signal).catch(end);
    return new Response(answer.body && relayedBody(answer.body, end), { status: answer.status, headers: passed });
  } catch (error) {
    end();
    throw error;
  }
}

/** The same bytes with back pressure. `end` is called when they end, or nobody reads them. */
function relayedBody(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const source = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await source.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      end();
    },
    cancel: end,
  });
}
