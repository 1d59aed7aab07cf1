import type { ServerKey } from "@towpath/runner-api";
import { type Call, deploymentFor, type Logged, type Received } from "../call/states.ts";
import type { Metrics } from "../platform/metrics.ts";
import { serverFor } from "../policy/versions.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { Recorder } from "./recorder.ts";
import type { Redactors } from "./redactors.ts";
import type { RefusalLimit } from "./refusal-limit.ts";
import { rowsOf } from "./rows.ts";
import type { SignIns } from "./sign-ins.ts";

type Parts = {
  recorder: Recorder;
  refusalLimit: RefusalLimit;
  signIns: SignIns;
  metrics: Metrics;
  tracer: Tracer | null;
  redactors: Redactors;
};

/**
 * Records a request that was refused before it reached its server. Anybody can cause these, so their rows are
 * rate-limited. Call it after the answer: it must not take longer for a server that exists than for an unused name
 * (GW-4).
 */
export async function recordRefused(parts: Parts, logged: Logged, call: Call): Promise<void> {
  const { route, answer } = logged.received;
  if (answer.refusal?.signIn) parts.signIns.refused(route, answer.refusal.signIn, call);
  countEnded(parts.metrics, logged.received);
  if (!isLogged(logged.received)) return;
  answer.redactor ??= await parts.redactors.waitIfAsked(serverOf(logged));
  for (const row of rowsOf(logged)) {
    const kept = parts.refusalLimit.admit(row);
    if (!kept) continue;
    parts.recorder.add(kept);
    parts.tracer?.end(logged, [kept]);
  }
}

/** The server that it was for: once its caller is known, it may be their own, whose values may be in the request. */
function serverOf(logged: Logged): ServerKey | null {
  const deploymentId = deploymentFor(logged);
  if (!logged.principal) return deploymentId;
  return serverFor(logged.received.route, deploymentId, logged.principal) ?? deploymentId;
}

/** Requests that concern MCP: all at the endpoint, and refused calls at any path. */
export function isLogged({ isMcp, answer: { refusal } }: Pick<Received, "isMcp" | "answer">): boolean {
  return isMcp || refusal?.code === "tool_not_allowed" || refusal?.code === "call_unclear";
}

export function countEnded(metrics: Metrics, { startedAt, answer }: Received): void {
  metrics.requestEnded(answer, (answer.endedAt ?? performance.now()) - startedAt);
}
