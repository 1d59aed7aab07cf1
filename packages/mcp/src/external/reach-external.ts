import { type AddressPolicy, createCheckedFetch, EgressError, type ResolveName } from "@towpath/egress";
import type { InspectionProblem } from "./inspection-problem.ts";

type ReachOptions = {
  readonly policy: AddressPolicy;
  readonly timeoutMs?: number;
  /** For tests. */
  readonly resolve?: ResolveName;
};

const defaultTimeoutMs = 10_000;

/**
 * Checks that a URL is reachable: its name resolves to addresses that the policy allows, and an HTTP server answers,
 * with any status. Null: reachable. Sends no credential. Never rejects for what the server does.
 */
export async function reachExternal(url: string, options: ReachOptions): Promise<InspectionProblem | null> {
  const { timeoutMs = defaultTimeoutMs } = options;
  const { fetch, close } = createCheckedFetch(options.policy, options.resolve);
  try {
    const headers = { accept: "application/json, text/event-stream" };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return null;
  } catch (error) {
    if (error instanceof EgressError) return { code: error.problem, message: error.message };
    if (error instanceof Error && error.name === "TimeoutError")
      return { code: "timeout", message: "The server accepted the connection, but did not answer in time." };
    return { code: "unreachable", message: "The server closed the connection without an answer in HTTP." };
  } finally {
    await close().catch(() => {});
  }
}
