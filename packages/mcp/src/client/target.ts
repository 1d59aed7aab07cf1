import type { FetchLike } from "@modelcontextprotocol/client";
import { Agent, fetch as undiciFetch } from "undici";
import { McpClientError } from "./errors.ts";

/** Where an MCP endpoint is. `headers` are added to every request. */
export type McpTarget =
  | {
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Replaces `fetch`: the restricted egress client, for addresses that tenants choose. */
      readonly fetch?: FetchLike;
    }
  | {
      /** Absolute path of a unix socket that speaks HTTP. */
      readonly socketPath: string;
      /** Default `/mcp`. */
      readonly path?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export type Connection = {
  readonly url: URL;
  readonly fetch: FetchLike;
  /** Aborted, with the error, when the responses exceed the limit. */
  readonly overflow: AbortSignal;
  readonly close: () => Promise<void>;
};

/**
 * A `fetch` for one connection that reads at most `maxBytes` of response bodies in total. The library buffers whole
 * responses, so the limit must be enforced below it: a tenant's server may send anything.
 */
export function connectTarget(target: McpTarget, maxBytes: number): Connection {
  const overflow = new AbortController();
  const network = networkOf(target);
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

function networkOf(target: McpTarget): { url: URL; fetch: FetchLike; close: () => Promise<void> } {
  if (!("socketPath" in target)) {
    return { url: new URL(target.url), fetch: target.fetch ?? fetch, close: async () => {} };
  }
  // A tool call may be silent for minutes: only the caller's deadline ends it, not undici's defaults of 300 s.
  const agent = new Agent({ connect: { socketPath: target.socketPath }, headersTimeout: 0, bodyTimeout: 0 });
  // Node bundles an older undici whose fetch cannot use this agent; the two differ in their types only.
  const request = undiciFetch as unknown as (url: string | URL, init: object) => Promise<Response>;
  return {
    url: new URL(target.path ?? "/mcp", "http://localhost"),
    fetch: (url, init) => request(url, { ...init, dispatcher: agent }),
    close: () => agent.destroy(),
  };
}
