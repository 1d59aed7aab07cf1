import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { serveMetrics } from "./metrics-server.ts";
import { addReadings, openRegistry } from "./registry.ts";

const log = pino({ level: "silent" });
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-metrics-"));
});
afterEach(() => rm(directory, { recursive: true }));

async function ask(socketPath: string, path = "/-/metrics"): Promise<{ status: number; body: string }> {
  const [response] = (await once(get({ socketPath, path, agent: false }), "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

/** A port that something else listens on. */
async function occupied() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

test("OPS-9 metrics are served on a socket, which the next process takes over and keeps when the last one ends", async () => {
  const path = join(directory, "web-metrics.sock");
  // A leftover of a killed process.
  await writeFile(path, "");
  const stopFirst = await serveMetrics({ path }, async () => "first", log);
  expect(await ask(path)).toEqual({ status: 200, body: "first" });
  expect((await ask(path, "/")).status).toBe(404);
  const stopSecond = await serveMetrics({ path }, async () => "second", log);
  await stopFirst();
  expect((await ask(path)).body).toBe("second");
  await stopSecond();
  await expect(ask(path)).rejects.toThrow();
});

test("OPS-10 a process shares the port of metrics with one that is still ending", async () => {
  const { server, port } = await occupied();
  server.close();
  const stopFormer = await serveMetrics({ host: "127.0.0.1", port }, async () => "former", log);
  const stopNext = await serveMetrics({ host: "127.0.0.1", port }, async () => "next", log);
  await stopFormer();
  expect(await (await fetch(`http://127.0.0.1:${port}/-/metrics`)).text()).toBe("next");
  await stopNext();
});

test("OPS-9 a port that is in use doesn't keep a process from starting, and is served once it is free", async () => {
  const { server, port } = await occupied();
  onTestFinished(await serveMetrics({ host: "127.0.0.1", port }, async () => "served", log));
  server.close();
  const served = () => fetch(`http://127.0.0.1:${port}/-/metrics`).then((response) => response.text());
  await expect.poll(() => served().catch(() => "")).toBe("served");
});

test("OPS-9 a reading that fails or hangs is left out, and the others are there", async () => {
  const registry = openRegistry({ role: "web", release: { version: "1.0.0", commit: null, schema: "0001_a" } });
  const labels = ["queue"];
  addReadings(registry, [
    { name: "one", help: "Is there", kind: "gauge", labels, read: () => [[{ queue: "a" }, 1]] },
    { name: "two", help: "Fails", kind: "gauge", labels, read: () => Promise.reject(new Error("no database")) },
    { name: "three", help: "Hangs", kind: "gauge", labels, read: () => new Promise(() => {}) },
  ]);
  const shown = await registry.metrics();
  expect(shown).toMatch(/^one{queue="a"} 1$/m);
  expect(shown).not.toMatch(/^(?:two|three)[ {]/m);
  expect(shown).toMatch(/^towpath_build_info{role="web",version="1.0.0",commit="",schema="0001_a"} 1$/m);
});
