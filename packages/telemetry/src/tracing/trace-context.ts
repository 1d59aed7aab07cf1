import { randomBytes } from "node:crypto";

/** The span of a request that is traced. Ids in lower-case hex, as on the wire. */
export type TraceContext = {
  readonly traceId: string;
  readonly spanId: string;
  /** The client's span; null when the trace begins here. */
  readonly parentSpanId: string | null;
};

// W3C Trace Context §3.2. A later version may append fields after another dash.
const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const sampledFlag = 1;

/**
 * The span for a request: part of the client's trace if its `traceparent` is valid, else of a new one. Null when it is not
 * sampled: as the client's flag says, or else by the ratio (0 to 1), which chooses by the trace id.
 */
export function beginTrace(traceparent: string | undefined, sampleRatio: number): TraceContext | null {
  const parent = parentOf(traceparent);
  if (parent) {
    return parent.isSampled ? { traceId: parent.traceId, spanId: newSpanId(), parentSpanId: parent.spanId } : null;
  }
  if (sampleRatio <= 0) return null;
  const traceId = newSpanId() + newSpanId();
  // By the last seven bytes, which are random in every trace id (W3C Trace Context Level 2 §3.2.2.3); six are precise
  // enough, and a number holds them.
  if (Number.parseInt(traceId.slice(-12), 16) / 2 ** 48 >= sampleRatio) return null;
  return { traceId, spanId: newSpanId(), parentSpanId: null };
}

/** The header for the server: the gateway's span is the parent of its own. */
export function traceparentOf({ traceId, spanId }: TraceContext): string {
  return `00-${traceId}-${spanId}-01`;
}

function parentOf(traceparent: string | undefined) {
  const [, version, traceId, spanId, flags = "", more] = traceparentPattern.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || version === "ff" || (version === "00" && more)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag };
}

const idLength = 16;
let digits = "";
let used = 0;

/** Eight random bytes, drawn in bulk. */
export function newSpanId(): string {
  if (used + idLength > digits.length) {
    digits = randomBytes(4096).toString("hex");
    used = 0;
  }
  used += idLength;
  return digits.slice(used - idLength, used);
}
