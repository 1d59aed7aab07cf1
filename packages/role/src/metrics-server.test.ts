import { rm } from "node:fs/promises";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { serveMetrics } from "./metrics-server.ts";
import { freePort } from "./testing/free-ports.ts";

const metricsAt = (address: { socketPath: string } | { port: number }) =>
  new Promise<string>((resolve, reject) => {
    const call = request({ ...address, path: "/-/metrics", agent: false }, (response) => {
      text(response).then(resolve, reject);
    });
    call.once("error", reject).end();
  });

test("OPS-10 a process takes over the socket of metrics from one that is still ending, whose end doesn't remove it", async () => {
  const socketPath = `/tmp/tp-metrics-${process.pid}.sock`;
  const stopFormer = await serveMetrics({ path: socketPath }, async () => "former");
  const stopNext = await serveMetrics({ path: socketPath }, async () => "next");
  expect(await metricsAt({ socketPath })).toBe("next");
  await stopFormer();
  expect(await metricsAt({ socketPath })).toBe("next");
  await stopNext();
  await rm(socketPath, { force: true });
});

test("OPS-10 a process shares the port of metrics with one that is still ending", async () => {
  const port = await freePort();
  const stopFormer = await serveMetrics({ host: "127.0.0.1", port }, async () => "former");
  const stopNext = await serveMetrics({ host: "127.0.0.1", port }, async () => "next");
  await stopFormer();
  expect(await metricsAt({ port })).toBe("next");
  await stopNext();
});
