import type { FetchLike } from "@modelcontextprotocol/client";
import { McpClientError } from "./errors.ts";

// Also for browsers: nothing of Node here.

/** How an endpoint is reached. */
export type Network = { readonly url: URL; readonly fetch: FetchLike; readonly close: () => Promise<void> };

export type Connection = Network & {
  /** Aborted, with the error, when the responses exceed the limit. */
  readonly overflow: AbortSignal;
};

/**
 * A `fetch` for one connection that reads at most `maxBytes` of response bodies in total. The library buffers whole
 * responses, so the limit must be enforced below it: a tenant's server may send anything.
 */
export function countedConnection(network: Network, maxBytes: number): Connection {
  const overflow = new AbortController();
  let left = maxBytes;
  const count = (response: Response): Response => {
    if (response.body === null) return response;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          left -= chunk.byteLength;
          if (left >= 0) return controller.enqueue(chunk);
          const error = new McpClientError("too_large", `The server's answers are larger than ${maxBytes} bytes.`);
          overflow.abort(error);
          controller.error(error);
        },
      }),
    );
    const { status, statusText, headers } = response;
    const copy = new Response(counted, { status, statusText, headers });
    // The transport compares the response's URL with the requested one; a new Response has none.
    Object.defineProperty(copy, "url", { value: response.url });
    Object.defineProperty(copy, "redirected", { value: response.redirected });
    return copy;
  };
  return {
    url: network.url,
    fetch: async (url, init) => count(await network.fetch(url, init)),
    overflow: overflow.signal,
    close: network.close,
  };
}
