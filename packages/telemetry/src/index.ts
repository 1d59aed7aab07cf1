// What a process says of itself to its operator: metrics, which Prometheus asks for, and spans, which are sent to a
// collector.
export { type MetricsAddress, serveMetrics } from "./metrics/metrics-server.ts";
export { addReadings, openRegistry, poolReadings, type Reading, spanReadings } from "./metrics/registry.ts";
export type { SpanData } from "./tracing/otlp.ts";
export type { OtlpSettings } from "./tracing/otlp-settings.ts";
export { openExporter, SpanExporter } from "./tracing/span-exporter.ts";
export { beginTrace, newSpanId, type TraceContext, traceparentOf } from "./tracing/trace-context.ts";
