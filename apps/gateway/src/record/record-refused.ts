import type { IncomingMessage } from "node:http";
import type { GatewayError } from "../gateway-error.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { Exchange } from "./exchange.ts";
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
 * rate-limited. Call it once the answer was sent: it must not take longer for a server that exists than for a name
 * that nobody has (GW-4).
 */
export async function recordRefused(parts: Parts, exchange: Exchange, request: IncomingMessage): Promise<void> {
  const { refusal, route } = exchange;
  if (refusal?.signIn) parts.signIns.refused(route, refusal.signIn, request);
  countEnded(parts.metrics, exchange);
  if (!isLogged(exchange, refusal)) return;
  exchange.redactor ??= await parts.redactors.waitIfAsked(exchange.deploymentId);
  for (const row of rowsOf(exchange)) {
    const kept = parts.refusalLimit.admit(row);
    if (!kept) continue;
    parts.recorder.add(kept);
    parts.tracer?.end(exchange, [kept]);
  }
}

/** What is about MCP: everything at the endpoint, and calls that were refused wherever they went. */
export function isLogged({ isMcp }: Exchange, refusal: GatewayError | null): boolean {
  return isMcp || refusal?.code === "tool_not_allowed" || refusal?.code === "call_unclear";
}

export function countEnded(metrics: Metrics, { status, end, startedAt, endedAt }: Exchange): void {
  metrics.requestEnded(status, end, (endedAt ?? performance.now()) - startedAt);
}
