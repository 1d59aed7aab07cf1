import { AsyncLocalStorage } from "node:async_hooks";
import type { Attributes, SpanData, SpanKind } from "./otlp.ts";
import { beginTrace, newSpanId, type TraceContext, traceparentOf } from "./trace-context.ts";

// The trace of what is under way follows it through promises, as in OpenTelemetry's libraries: a verb of the core
// that queues a job, or a call to the runner, needs no parameter for it.

/** Takes spans that have ended. */
export type SpanSink = { push(span: SpanData): void };

type ActiveSpan = {
  readonly trace: TraceContext;
  readonly sink: SpanSink;
  attributes: Attributes;
  failure: string | null;
  hasCaused: boolean;
};

const active = new AsyncLocalStorage<ActiveSpan>();

type Beginning = {
  readonly name: string;
  readonly kind: SpanKind;
  /** The span that caused it (W3C Trace Context); null or not valid: a trace begins. */
  readonly traceparent: string | null;
  readonly attributes?: Attributes;
  /** Exports the span only if it caused another one or may have: most questions to a Git host find no change. */
  readonly onlyIfCausing?: boolean;
};

/** Runs `work` as a span, and what it causes as its children. `sink`: null where nothing is traced. */
export function startTrace<T>(sink: SpanSink | null, beginning: Beginning, work: () => Promise<T>): Promise<T> {
  const trace = sink && beginTrace(beginning.traceparent ?? undefined, 1);
  return sink && trace ? record({ sink, trace, ...beginning }, work) : work();
}

/** Runs `work` as a child of the span under way; without one, only runs it. */
export function inSpan<T>(name: string, work: () => Promise<T>, attributes: Attributes = {}): Promise<T> {
  const parent = active.getStore();
  if (parent === undefined) return work();
  parent.hasCaused = true;
  const { traceId, spanId } = parent.trace;
  const trace = { traceId, spanId: newSpanId(), parentSpanId: spanId };
  return record({ sink: parent.sink, trace, name, kind: "internal", attributes }, work);
}

/** The span under way, as the header or field that carries it to another process; null without one. */
export function currentTraceparent(): string | null {
  const span = active.getStore();
  if (span === undefined) return null;
  span.hasCaused = true;
  return traceparentOf(span.trace);
}

/** Adds facts to the span under way. `failure`: the type of an error that was not thrown. */
export function describeSpan({ failure, ...attributes }: Attributes & { readonly failure?: string }): void {
  const span = active.getStore();
  if (span === undefined) return;
  span.attributes = { ...span.attributes, ...attributes };
  if (failure !== undefined) span.failure = failure;
}

type Recorded = Omit<Beginning, "traceparent"> & { readonly sink: SpanSink; readonly trace: TraceContext };

async function record<T>(
  { sink, trace, name, kind, attributes = {}, onlyIfCausing = false }: Recorded,
  work: () => Promise<T>,
): Promise<T> {
  const span: ActiveSpan = { trace, sink, attributes, failure: null, hasCaused: false };
  const startMicros = nowMicros();
  try {
    return await active.run(span, work);
  } catch (error) {
    span.failure = typeOf(error);
    throw error;
  } finally {
    if (span.hasCaused || !onlyIfCausing) {
      const { failure } = span;
      // Messages may quote what belongs to a tenant.
      const all = failure === null ? span.attributes : { ...span.attributes, "error.type": failure };
      const times = { startMicros, endMicros: nowMicros() };
      sink.push({ trace, name, kind, ...times, attributes: all, failure: failure === null ? null : { message: null } });
    }
  }
}

const nowMicros = () => Math.round((performance.timeOrigin + performance.now()) * 1000);

/** The code of one of our errors, such as `upstream_unavailable`, else its class. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
