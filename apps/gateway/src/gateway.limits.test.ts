import type { RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { answerJson, emptyResult } from "./testing/clients.ts";
import { createRig, type DeployedServer, type Rig, until } from "./testing/rig.ts";

const maxConnections = 40;
const json = (response: ServerResponse) => answerJson(response, emptyResult);

let rig: Rig;
let server: DeployedServer;
/** Answers that a server holds back. */
let held: ServerResponse[] = [];
let sockets: Socket[] = [];
const holding: RequestListener = (request, response) => {
  request.resume();
  if (request.headers["x-hold"]) held.push(response);
  else json(response);
};
beforeAll(async () => {
  rig = await createRig({
    TOWPATH_GATEWAY_MAX_CONNECTIONS: String(maxConnections),
    TOWPATH_GATEWAY_MAX_REQUESTS_PER_SERVER: "5",
    TOWPATH_GATEWAY_MAX_BODY_MIB: "8",
  });
  server = await rig.deploy(holding);
});
afterAll(() => rig.close());
beforeEach(async () => {
  for (const response of held) json(response);
  for (const socket of sockets) socket.destroy();
  held = [];
  sockets = [];
  await until(async () => (await metric("requests_open")) === 0);
});

const call = (to: DeployedServer, headers: Record<string, string> = {}) =>
  fetch(to.url, { method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });

/** A connection that never closes its side, even when the gateway closes. */
function dial(text = ""): Socket {
  const socket = connect({ port: rig.gateway.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {}).resume();
  if (text !== "") socket.write(text);
  sockets.push(socket);
  return socket;
}
const head = (to: DeployedServer, length: number) =>
  `POST /${to.label}/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/metrics`)).text();
  const value = new RegExp(`^towpath_gateway_${name} (\\d+)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`no metric ${name}`);
  return Number(value);
}

const open = () =>
  new Promise<number>((resolve, reject) => {
    rig.gateway.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });

test("GW-9 idle connections make room for active ones, and never take all places", async () => {
  for (let at = 0; at < 5 * maxConnections; at++) {
    dial();
    if (at % 10 === 0) expect((await call(server)).status).toBe(200);
  }
  await until(async () => (await metric("connections_evicted_total")) > 3 * maxConnections);
  expect(await open()).toBeLessThanOrEqual(maxConnections);
  expect((await call(server)).status).toBe(200);
  expect(await metric("connections_max")).toBe(maxConnections);
});

test("GW-9 connections between two requests make way too", async () => {
  const asked = "GET /-/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (let at = 0; at < 2 * maxConnections; at++) {
    const socket = dial(asked);
    await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
  }
  expect(await open()).toBeLessThanOrEqual(maxConnections);
  expect((await call(server)).status).toBe(200);
});

test("GW-9 a refused connection ends although its client keeps it open", async () => {
  for (let at = 0; at < 10; at++) {
    dial("this is no HTTP\r\n\r\n");
    dial(head(server, 5 * 1024 * 1024));
    dial(`GET /${"x".repeat(40_000)} HTTP/1.1\r\n\r\n`);
  }
  await until(() => sockets.every((socket) => socket.bytesRead > 0));
  // The remaining ones belong to other tests.
  await until(async () => (await open()) < 10);
});

test("GW-14 a server's open requests are limited; other servers are not affected", async () => {
  const other = await rig.deploy(holding);
  const running = Array.from({ length: 5 }, () => call(server, { "x-hold": "1" }));
  await until(() => held.length === 5);
  const refused = await call(server);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await refused.json()).toMatchObject({ error: { data: { towpath: "server_busy" } } });
  expect((await call(other)).status).toBe(200);
  for (const response of held.splice(0)) json(response);
  expect((await Promise.all(running)).map((response) => response.status)).toEqual([200, 200, 200, 200, 200]);
  await until(async () => (await call(server)).status === 200);
});

test("GW-14 unfinished bodies of one server fill at most half of the room for bodies", async () => {
  const other = await rig.deploy(holding);
  const [chunk, size] = ["x".repeat(1_900_000), 2_000_000];
  for (let at = 0; at < 4; at++) dial(head(server, size) + chunk);
  await until(async () => (await metric("body_bytes")) > 3_000_000);
  await until(() => sockets.some((socket) => socket.readableEnded || socket.destroyed));
  expect(await metric("body_bytes")).toBeLessThanOrEqual(4 * 1024 * 1024);
  const large = await fetch(other.url, { method: "POST", body: "y".repeat(1_500_000) });
  expect(large.status).toBe(200);
  expect((await call(server)).status).toBe(200);
});
