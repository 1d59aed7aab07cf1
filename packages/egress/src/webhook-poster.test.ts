import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createAddressPolicy, createWebhookPoster } from "./index.ts";
import { innerHosts, serve } from "./testing/local-server.ts";

const local = createAddressPolicy(["127.0.0.0/8"]);
const timeoutMs = 300;
const post = async (port: number, path = "/", withinMs = timeoutMs) =>
  createWebhookPoster(local, withinMs).post({
    url: `http://127.0.0.1:${port}${path}`,
    headers: { "webhook-id": "m1" },
    body: '{"a":1}',
  });

test("CAP-6 a webhook is posted as JSON with its headers, and the beginning of the answer is kept", async () => {
  const received: string[] = [];
  const port = await serve(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    received.push(`${request.method} ${request.headers["content-type"]} ${request.headers["webhook-id"]} ${body}`);
    response.writeHead(429, { "retry-after": "120" });
    response.end("x".repeat(2000));
  });
  expect(await post(port)).toEqual({
    kind: "answered",
    status: 429,
    text: "x".repeat(500),
    retryAfterSeconds: 120,
  });
  expect(received).toEqual(['POST application/json m1 {"a":1}']);
});

test("CAP-6 a receiver that doesn't answer ends in time; one that did counts, though its body never ends or breaks", async () => {
  const silent = await serve(() => {});
  const begun = performance.now();
  expect(await post(silent)).toEqual({ kind: "problem", message: "127.0.0.1 did not answer within 0.3 seconds." });
  expect(performance.now() - begun).toBeLessThan(3000);
  const endless = await serve((_, response) => {
    response.write("ok");
  });
  expect(await post(endless)).toMatchObject({ kind: "answered", status: 200, text: "ok" });
  const broken = await serve((_, response) => {
    response.writeHead(204, { "content-length": "0" });
    response.flushHeaders();
    setImmediate(() => response.destroy());
  });
  expect(await post(broken)).toMatchObject({ status: 204 });
  const closing = await serve((request) => void request.destroy());
  expect(await post(closing)).toMatchObject({ message: expect.stringContaining("closed the connection") });
});

test("CAP-6 of a compressed answer, no more is unpacked than is kept", async () => {
  const bomb = gzipSync(Buffer.alloc(60_000_000, "x"));
  const port = await serve((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  });
  const before = process.memoryUsage().rss;
  expect(await post(port, "/", 20_000)).toMatchObject({ kind: "answered", status: 200, text: "x".repeat(500) });
  expect(process.memoryUsage().rss - before).toBeLessThan(30_000_000);
});

test("CAP-6 redirects are answers: nothing is posted to another address", async () => {
  let posted = 0;
  const target = await serve(() => {
    posted += 1;
  });
  const port = await serve((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${target}/` }).end();
  });
  expect(await post(port)).toMatchObject({ kind: "answered", status: 307 });
  expect(posted).toBe(0);
});

test.each(innerHosts)("CAP-6 nothing is posted to %s, and the message names the remedy", async (host) => {
  const { problemOf, post: send } = createWebhookPoster(createAddressPolicy([]), timeoutMs);
  const url = `https://${host}/hook`;
  const answer = await send({ url, headers: {}, body: "{}" });
  expect(answer).toMatchObject({ kind: "problem", message: expect.stringContaining("TOWPATH_EXTERNAL_NETWORKS") });
  // What is an address already by its text is refused before anything is stored.
  if (/^[\d[]/.test(host)) expect(problemOf(url)).toContain("TOWPATH_EXTERNAL_NETWORKS");
});

test.each(["ftp://a.test", "https://u:p@a.test", "https://a.test/#x", "nonsense"])(
  "CAP-6 %s is no address of a webhook",
  (url) => {
    expect(createWebhookPoster(local).problemOf(url)).toContain("Enter an https address");
  },
);
