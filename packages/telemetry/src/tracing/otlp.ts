import type { TraceContext } from "./trace-context.ts";

type Value = string | number | null | undefined;
export type Attributes = Readonly<Record<string, Value>>;

const kinds = { internal: 1, server: 2, consumer: 5 } as const;
/** `server` and `consumer`: their parent, if they have one, is in another process. */
export type SpanKind = keyof typeof kinds;

/** A span that has ended. Times in microseconds since 1970. */
export type SpanData = {
  readonly trace: TraceContext;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMicros: number;
  readonly endMicros: number;
  readonly attributes: Attributes;
  /** Null: it succeeded. */
  readonly failure: { readonly message: string | null } | null;
};

const error = 2;
/** Span flags: sampled; whether the parent is remote is known; it is (opentelemetry-proto, SpanFlags). */
const [sampled, isKnown, isRemote] = [0x01, 0x100, 0x200];

type Batch = {
  readonly spans: readonly SpanData[];
  readonly resource: Attributes;
  readonly scope: string;
};

/** Spans as the body of an OTLP/HTTP request in JSON (OTLP specification 1.x, "JSON Protobuf Encoding"). */
export function otlpJson({ spans, resource, scope }: Batch): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: scope }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan({ trace, name, kind, startMicros, endMicros, attributes, failure }: SpanData) {
  const hasRemoteParent = trace.parentSpanId !== null && kind !== "internal";
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(trace.parentSpanId !== null && { parentSpanId: trace.parentSpanId }),
    flags: sampled | isKnown | (hasRemoteParent ? isRemote : 0),
    name,
    kind: kinds[kind],
    // This encoding has 64-bit integers as strings.
    startTimeUnixNano: `${startMicros}000`,
    endTimeUnixNano: `${endMicros}000`,
    attributes: attributesOf(attributes),
    status: failure === null ? {} : { code: error, ...(failure.message !== null && { message: failure.message }) },
  };
}

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };

function attributesOf(values: Attributes): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}
