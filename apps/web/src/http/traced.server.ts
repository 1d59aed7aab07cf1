import { describeSpan, type SpanSink, startTrace } from "@towpath/telemetry/trace";

type Traced = { readonly request: Request; readonly route: string };

/**
 * Answers a request as a span, under which is what it causes: jobs, builds and starts of servers. A request that causes
 * nothing leaves no span. `spans`: null where nothing is traced.
 */
export function traced(
  spans: SpanSink | null,
  { request, route }: Traced,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  const { method, headers } = request;
  const attributes = { "http.request.method": method, "towpath.route": route };
  const beginning = { name: `${method} ${route}`, kind: "server", attributes, onlyIfCausing: true } as const;
  return startTrace(spans, { ...beginning, traceparent: headers.get("traceparent") }, async () => {
    const response = await answer();
    const { status } = response;
    describeSpan({ "http.response.status_code": status, ...(status >= 500 && { failure: String(status) }) });
    return response;
  });
}
