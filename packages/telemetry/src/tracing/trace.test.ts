import { expect, test } from "vitest";
import type { SpanData } from "./otlp.ts";
import { currentTraceparent, describeSpan, inSpan, startTrace } from "./trace.ts";

const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const root = { name: "root", kind: "server", traceparent: null } as const;

function collected() {
  const spans: SpanData[] = [];
  const find = (name: string) => spans.find((span) => span.name === name);
  return { spans, find, sink: { push: (span: SpanData) => void spans.push(span) } };
}

test("OPS-9 spans continue the caller's trace, and those inside have the one around them as parent, also beside others", async () => {
  const { sink, spans, find } = collected();
  let passedOn: string | null = null;
  await startTrace(sink, { ...root, traceparent: caller }, async () => {
    const inner = inSpan("inner", async () => {
      passedOn = currentTraceparent();
    });
    await Promise.all([inner, inSpan("beside", async () => {})]);
  });
  expect(new Set(spans.map(({ trace }) => trace.traceId))).toEqual(new Set(["4bf92f3577b34da6a3ce929d0e0e4736"]));
  expect(find("root")?.trace.parentSpanId).toBe("00f067aa0ba902b7");
  for (const name of ["inner", "beside"]) expect(find(name)?.trace.parentSpanId).toBe(find("root")?.trace.spanId);
  expect(passedOn).toBe(`00-4bf92f3577b34da6a3ce929d0e0e4736-${find("inner")?.trace.spanId}-01`);
  expect(find("root")?.endMicros).toBeGreaterThanOrEqual(find("inner")?.endMicros ?? Number.NaN);
});

test("OPS-9 a span that failed names the error's code, never its message, and what it throws passes on", async () => {
  const { sink, find } = collected();
  const error = Object.assign(new Error("of a tenant"), { code: "upstream_unavailable" });
  const thrown = startTrace(sink, root, () => inSpan("inner", () => Promise.reject(error), { "towpath.a": 1 }));
  await expect(thrown).rejects.toBe(error);
  expect(find("inner")).toMatchObject({
    failure: { message: null },
    attributes: { "towpath.a": 1, "error.type": "upstream_unavailable" },
  });
  await startTrace(sink, { ...root, name: "described" }, async () => describeSpan({ failure: "500" }));
  expect(find("described")).toMatchObject({ failure: { message: null }, attributes: { "error.type": "500" } });
  expect(JSON.stringify(find("inner"))).not.toContain("tenant");
});

test("OPS-9 what nobody traces leaves no span: without a collector, of a caller who doesn't want one, and what caused nothing", async () => {
  const { sink, spans } = collected();
  const inner = () => inSpan("inner", async () => currentTraceparent());
  expect(await inner()).toBeNull();
  expect(await startTrace(null, root, inner)).toBeNull();
  expect(await startTrace(sink, { ...root, traceparent: caller.replace(/01$/, "00") }, inner)).toBeNull();
  await startTrace(sink, { ...root, onlyIfCausing: true }, async () => {});
  expect(spans).toEqual([]);
  await startTrace(sink, { ...root, onlyIfCausing: true }, async () => void currentTraceparent());
  expect(spans).toHaveLength(1);
});
