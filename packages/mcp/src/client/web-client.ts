import { countedConnection } from "./connection.ts";
import { type McpClient, type OpenOptions, openConnection } from "./open-connection.ts";

export type { Elicitation, ElicitationAnswer, LogMessage, Sampling, SamplingAnswer } from "./asked.ts";
export { CallDeadline } from "./call-deadline.ts";
export { McpClientError } from "./errors.ts";
export type { CompletionTarget, McpClient, OpenOptions } from "./open-connection.ts";

/** The client for browsers, whose only transport is `fetch`. @throws McpClientError */
export async function openWebClient(
  endpoint: { readonly url: URL; readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response> },
  options: OpenOptions & { readonly maxBytes: number },
): Promise<McpClient> {
  const connection = countedConnection({ ...endpoint, close: async () => {} }, options.maxBytes);
  const { client: _client, guard: _guard, ...publicPart } = await openConnection(connection, {}, options);
  return publicPart;
}
