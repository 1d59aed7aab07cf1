import type { FetchLike } from "@modelcontextprotocol/client";
import { Agent, fetch as undiciFetch } from "undici";
import { type Connection, countedConnection, type Network } from "./connection.ts";

/** The address of an MCP endpoint. `headers` are added to every request. */
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

/** A connection that reads at most `maxBytes` of response bodies in total. */
export function connectTarget(target: McpTarget, maxBytes: number): Connection {
  return countedConnection(networkOf(target), maxBytes);
}

function networkOf(target: McpTarget): Network {
  if (!("socketPath" in target)) {
    return { url: new URL(target.url), fetch: target.fetch ?? fetch, close: async () => {} };
  }
  // A tool call may be silent for minutes: only the caller's deadline ends it, not undici's defaults of 300 s.
  const agent = new Agent({ connect: { socketPath: target.socketPath }, headersTimeout: 0, bodyTimeout: 0 });
  // Node bundles an older undici whose fetch cannot use this agent; only their types differ.
  const request = undiciFetch as unknown as (url: string | URL, init: object) => Promise<Response>;
  return {
    url: new URL(target.path ?? "/mcp", "http://localhost"),
    fetch: (url, init) => request(url, { ...init, dispatcher: agent }),
    close: () => agent.destroy(),
  };
}
