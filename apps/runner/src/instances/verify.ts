import { dialTarget, type LeasedInstance, RunnerError, type ServerEndpoint, secretHeader } from "@towpath/runner-api";
import { Client } from "undici";

/**
 * A lease on a server that has answered a request at /mcp with any status: it may require credentials.
 *
 * @throws RunnerError `no_answer` when it does not within `timeoutMs` or answers with a status of 500 or more
 */
export async function verifiedLease(lease: () => Promise<LeasedInstance>, timeoutMs: number): Promise<LeasedInstance> {
  const first = await lease();
  const problem = await problemAtMcp(first.endpoint, timeoutMs);
  if (problem === null) return first;
  // On a full host leases are short: it may have been evicted before it answered, and this is another instance.
  const second = await lease();
  if (second.instanceId === first.instanceId) throw new RunnerError("no_answer", problem);
  const again = await problemAtMcp(second.endpoint, timeoutMs);
  if (again !== null) throw new RunnerError("no_answer", again);
  return second;
}

const initialize = {
  method: "POST",
  path: "/mcp",
  headers: { host: "localhost", "content-type": "application/json", accept: "application/json, text/event-stream" },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "towpath-rollout", version: "1" } },
  }),
} as const;

/** The problem with a server's answer to `initialize`, for its owner; null if there is none. */
async function problemAtMcp(endpoint: ServerEndpoint, timeoutMs: number): Promise<string | null> {
  const { origin, options } = dialTarget(endpoint);
  const client = new Client(origin, options);
  try {
    const headers = { ...initialize.headers, [secretHeader]: endpoint.secret };
    const { statusCode, body } = await client.request({
      ...initialize,
      headers,
      signal: AbortSignal.timeout(timeoutMs),
    });
    // The status is enough; the body may be an open stream.
    body.on("error", () => {}).destroy();
    return statusCode < 500 ? null : `It answered at /mcp with HTTP status ${statusCode}.`;
  } catch {
    return `It did not answer at /mcp within ${Math.round(timeoutMs / 1000)} seconds.`;
  } finally {
    await client.destroy();
  }
}
