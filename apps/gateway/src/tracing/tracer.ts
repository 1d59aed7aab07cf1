import type { RequestLogRow } from "@towpath/logs";
import { beginTrace, newSpanId, type SpanExporter, type TraceContext } from "@towpath/telemetry";
import type { Logged } from "../call/states.ts";
import { peekOf } from "../record/rows.ts";
import type { Span } from "./span.ts";

/** Creates a span for each sampled MCP request (LOG-4). */
export type Tracer = {
  /** The span of a request that begins; null when it is not sampled. */
  begin: (traceparent: string | undefined) => TraceContext | null;
  /** Takes the rows of a request that has ended: each is a span, unless it has no MCP message, such as a GET stream. */
  end: (call: Logged, rows: readonly RequestLogRow[]) => void;
};

export function createTracer(exporter: Pick<SpanExporter<Span>, "push">, sampleRatio: number): Tracer {
  return {
    begin: (traceparent) => beginTrace(traceparent, sampleRatio),
    end(call, rows) {
      const { trace, userAgent } = call.received;
      if (!trace) return;
      const peek = peekOf(call);
      for (const [at, whole] of rows.entries()) {
        if (whole.method === null && whole.refusal === null) continue;
        // Payloads are not part of a span, and must not take memory while the collector is unavailable.
        const { requestPayload: _request, responsePayload: _response, ...row } = whole;
        const rpcId = rows.length === 1 ? peek.id : (peek.messages[at]?.id ?? null);
        exporter.push({ trace: at === 0 ? trace : { ...trace, spanId: newSpanId() }, rpcId, userAgent, row });
      }
    },
  };
}
