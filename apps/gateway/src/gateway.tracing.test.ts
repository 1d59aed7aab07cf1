import { type Collector, startCollector } from "@towpath/telemetry/testing";
import { afterEach, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { answerJson, postTo, rpc } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig({ TOWPATH_LIMIT_CALLER_PER_MINUTE: "0", TOWPATH_LIMIT_SERVER_PER_MINUTE: "0" });
let server: DeployedServer;
let seen: (string | undefined)[] = [];
const collectors: Collector[] = [];

beforeAll(async () => {
  // One caller makes more calls than the limits permit.
  server = await rig.deploy((request, response) => {
    seen.push(request.headersDistinct.traceparent?.join("|"));
    request.resume();
    const failed = { content: [{ type: "text", text: "no" }], isError: true };
    answerJson(response, JSON.stringify({ jsonrpc: "2.0", id: 1, result: failed }));
  });
});
afterEach(async () => {
  await Promise.all(collectors.splice(0).map((each) => each.kill()));
  seen = [];
});

async function openCollector(port = 0, status = 200): Promise<Collector> {
  const opened = await startCollector(port, status);
  collectors.push(opened);
  return opened;
}

const otlp = (port: number, sampleRatio = 1) => ({
  url: new URL(`http://127.0.0.1:${port}/v1/traces`),
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
  const line = text.split("\n").find((each) => each.startsWith(`towpath_${name}`));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
};
const spans = (result: "exported" | "dropped") => metric(`spans_total{role="gateway",result="${result}"}`);

test("LOG-4 a call is a span of the client's trace, with the conventions' attributes, and the parent of the server's", async () => {
  const collector = await openCollector();
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
  expect(span.attributes).toMatchObject({
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
  const collector = await openCollector();
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

test.runIf(isThorough)(
  "LOG-4 a collector that is unreachable or refuses doesn't affect calls; spans wait in a bounded queue and are counted",
  async () => {
    const first = await openCollector();
    await rig.restart({ otlp: otlp(first.port) });
    for (const each of collectors.splice(0)) await each.kill();
    for (let at = 0; at < 45; at++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => call()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    expect(await metric("spans_queued{")).toBe(4096);
    expect(await spans("dropped")).toBe(4500 - 4096);
    const back = await openCollector(first.port);
    await until(() => back.spans().length >= 4096, 45_000);
    expect(new Set(back.spans().map(({ spanId }) => spanId)).size).toBe(4096);
    await until(async () => (await spans("exported")) === 4096);

    const refusing = await openCollector(0, 400);
    await rig.restart({ otlp: otlp(refusing.port) });
    expect((await call()).status).toBe(200);
    await until(async () => (await spans("dropped")) === 1);
    await rig.restart({ otlp: null });
    await call();
    expect(seen.at(-1)).toBeUndefined();
    // The queue drains only when the pause after the last attempt is over.
  },
  120_000,
);
