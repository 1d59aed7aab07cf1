import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { answerJson, postTo, rpc } from "./testing/clients.ts";
import { createRig, type DeployedServer, type Rig, until } from "./testing/rig.ts";
import { parseOtlpEndpoint, parseOtlpHeaders } from "./tracing/otlp-settings.ts";

const main = new URL("./testing/otlp-receiver.main.ts", import.meta.url).pathname;
type OtlpSpan = {
  [key: string]: unknown;
  traceId: string;
  spanId: string;
  attributes: { key: string; value: Record<string, unknown> }[];
};
type Received = {
  url: string;
  headers: Record<string, string>;
  body: { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
};

let rig: Rig;
let server: DeployedServer;
let seen: (string | undefined)[] = [];
const collectors: ChildProcess[] = [];

beforeAll(async () => {
  // One caller makes more calls than the limits permit.
  rig = await createRig({ TOWPATH_LIMIT_CALLER_PER_MINUTE: "0", TOWPATH_LIMIT_SERVER_PER_MINUTE: "0" });
  server = await rig.deploy((request, response) => {
    seen.push(request.headersDistinct.traceparent?.join("|"));
    request.resume();
    const failed = { content: [{ type: "text", text: "no" }], isError: true };
    answerJson(response, JSON.stringify({ jsonrpc: "2.0", id: 1, result: failed }));
  });
});
afterEach(() => {
  for (const collector of collectors.splice(0)) collector.kill("SIGKILL");
  seen = [];
});
afterAll(() => rig.close());

async function startCollector(port = 0, status = 200) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, String(port), String(status)]);
  collectors.push(child);
  const received: Received[] = [];
  const lines = createInterface({ input: child.stdout });
  const [first] = await once(lines, "line");
  lines.on("line", (line) => received.push(JSON.parse(line)));
  const spans = () =>
    received.flatMap(({ body }) =>
      body.resourceSpans.flatMap((each) => each.scopeSpans.flatMap((scope) => scope.spans)),
    );
  return { port: Number(JSON.parse(String(first)).port), received, spans };
}

const otlp = (port: number, sampleRatio = 1) => ({
  url: parseOtlpEndpoint(`http://127.0.0.1:${port}`) as URL,
  headers: { "x-api-key": "k" },
  sampleRatio,
});
const call = async (headers: Record<string, string> = {}) => {
  const url = new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`);
  const answer = await postTo(url, rpc(), headers);
  await answer.arrayBuffer();
  return answer;
};
const metric = async (name: string) => {
  const text = await (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/metrics`)).text();
  return Number(new RegExp(`^towpath_gateway_${name} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN);
};
const attributesOf = ({ attributes }: OtlpSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

test("LOG-4 a call is a span of the client's trace, with the conventions' attributes, and the parent of the server's", async () => {
  const collector = await startCollector();
  await rig.restart({ otlp: otlp(collector.port) });
  const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  const answer = await call({ traceparent: `00-${trace}-${parent}-01`, tracestate: "a=1" });
  await until(() => collector.spans().length === 1);
  const [span] = collector.spans();
  if (!span) throw new Error("a span was received");
  expect(span).toMatchObject({
    traceId: trace,
    parentSpanId: parent,
    name: "tools/call t",
    kind: 2,
    status: { code: 2 },
  });
  expect(span.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  expect(BigInt(String(span.endTimeUnixNano))).toBeGreaterThan(BigInt(String(span.startTimeUnixNano)));
  expect(seen).toEqual([`00-${trace}-${span.spanId}-01`]);
  expect(attributesOf(span)).toMatchObject({
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "t",
    "gen_ai.operation.name": "execute_tool",
    "jsonrpc.request.id": "1",
    "error.type": "tool_error",
    "http.response.status_code": "200",
    "network.transport": "tcp",
    "towpath.project.id": server.projectId,
    "towpath.request.id": answer.headers.get("towpath-request-id"),
  });
  expect(collector.received[0]).toMatchObject({ url: "/v1/traces", headers: { "x-api-key": "k" } });
  await until(async () => (await rig.rows(server.projectId, 1))[0]?.traceId === trace);
});

test("LOG-4 the client's flag decides, else the ratio; unsampled requests pass unchanged and are not exported", async () => {
  const collector = await startCollector();
  await rig.restart({ otlp: otlp(collector.port, 0) });
  const unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  await call({ traceparent: unsampled });
  await call();
  await call({ traceparent: "nonsense" });
  await call({ traceparent: unsampled.replace(/00$/, "01") });
  await until(() => collector.spans().length === 1);
  expect(seen.slice(0, 3)).toEqual([unsampled, undefined, "nonsense"]);
  await rig.restart({ otlp: otlp(collector.port, 1) });
  await call({ traceparent: "nonsense" });
  await until(() => collector.spans().length === 2);
  const span = collector.spans()[1];
  expect(span).not.toHaveProperty("parentSpanId");
  expect(seen.at(-1)).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
});

test("LOG-4 a collector that is unreachable or refuses doesn't affect calls; spans wait in a bounded queue and are counted", async () => {
  const first = await startCollector();
  await rig.restart({ otlp: otlp(first.port) });
  for (const collector of collectors.splice(0)) {
    collector.kill("SIGKILL");
    await once(collector, "exit");
  }
  for (let at = 0; at < 45; at++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => call()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }
  expect(await metric("spans_queued")).toBe(4096);
  expect(await metric("spans_dropped")).toBe(4500 - 4096);
  const back = await startCollector(first.port);
  await until(() => back.spans().length >= 4096, 45_000);
  expect(new Set(back.spans().map(({ spanId }) => spanId)).size).toBe(4096);
  await until(async () => (await metric("spans_exported")) === 4096);

  const refusing = await startCollector(0, 400);
  await rig.restart({ otlp: otlp(refusing.port) });
  expect((await call()).status).toBe(200);
  await until(async () => (await metric("spans_dropped")) === 1);
  await rig.restart({ otlp: null });
  await call();
  expect(seen.at(-1)).toBeUndefined();
  // The queue drains only when the pause after the last attempt is over.
}, 120_000);

test("OPS-1 the collector's settings are checked, and a wrong header is not repeated", () => {
  expect(parseOtlpEndpoint("")).toBeNull();
  expect(parseOtlpEndpoint("https://otel.example/base/")?.href).toBe("https://otel.example/base/v1/traces");
  expect(() => parseOtlpEndpoint("localhost:4318")).toThrow("base URL");
  expect(parseOtlpHeaders("Authorization=Bearer%20x, x-a=b")).toEqual({ authorization: "Bearer x", "x-a": "b" });
  for (const wrong of ["s3cret", "=s3cret", "a=%zzs3cret", "a=s3cret%0d%0ab"]) {
    expect(() => parseOtlpHeaders(wrong)).toThrow(/^(?!.*s3cret)/);
  }
});
