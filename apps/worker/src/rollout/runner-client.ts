import { request } from "node:http";
import { z } from "zod";

const leaseSchema = z.object({
  instanceId: z.string(),
  socketPath: z.string(),
  state: z.string(),
  waitedMs: z.number(),
});
const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), retryAfterMs: z.number().optional() }),
});

export type Lease = z.infer<typeof leaseSchema>;

export type LeaseResult =
  | { readonly ok: true; readonly lease: Lease }
  /** The runner said no; `unreachable` when it said nothing. */
  | { readonly ok: false; readonly code: string; readonly message: string; readonly retryAfterMs: number | null };

export type RunnerClient = {
  /** Starts the deployment's server, or wakes it, and keeps it for some seconds. Resolves when it serves. */
  lease(deploymentId: string, signal: AbortSignal): Promise<LeaseResult>;
  /** Whether the server on that socket answers MCP's endpoint, whatever it says: it may want credentials. */
  answers(socketPath: string, signal: AbortSignal): Promise<boolean>;
};

/** A start may wait a minute for its place and take another one; beyond this the runner is taken for hung. */
const leaseTimeoutMs = 150_000;
const answerTimeoutMs = 10_000;

/** Client of the runner's API on its unix socket. */
export function createRunnerClient(runnerSocket: string): RunnerClient {
  return {
    async lease(deploymentId, signal) {
      const path = `/v1/deployments/${encodeURIComponent(deploymentId)}/lease`;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(leaseTimeoutMs)]);
      try {
        const answer = await post(runnerSocket, path, {}, "", limit);
        return readLease(answer);
      } catch (error) {
        signal.throwIfAborted();
        const message = error instanceof Error ? error.message : String(error);
        return { ok: false, code: "unreachable", message, retryAfterMs: null };
      }
    },
    async answers(socketPath, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]);
      try {
        return (await post(socketPath, "/mcp", mcpHeaders, ping, limit)).status < 500;
      } catch {
        signal.throwIfAborted();
        return false;
      }
    },
  };
}

const mcpHeaders = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const ping = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "towpath-rollout", version: "1" },
  },
});

function readLease(answer: { readonly status: number; readonly body: string }): LeaseResult {
  const json: unknown = JSON.parse(answer.body);
  if (answer.status === 200) return { ok: true, lease: leaseSchema.parse(json) };
  const { error } = errorSchema.parse(json);
  return { ok: false, code: error.code, message: error.message, retryAfterMs: error.retryAfterMs ?? null };
}

/** Resolves with the first 64 KiB of the body; a stream that stays open counts as answered. */
function post(
  socketPath: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path, method: "POST", headers: { host: "localhost", ...headers }, signal });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      const status = incoming.statusCode ?? 0;
      if (incoming.headers["content-type"]?.startsWith("text/event-stream")) {
        incoming.destroy();
        return resolve({ status, body: "" });
      }
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (chunk: string) => {
        if (text.length < 65_536) text += chunk;
      });
      incoming.on("end", () => resolve({ status, body: text }));
      incoming.on("error", reject);
    });
    outgoing.end(body);
  });
}
