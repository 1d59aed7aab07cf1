import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { BoundSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type GatewayProcess, isAlive, startGatewayProcess } from "./testing/gateway-process.ts";
import { openRig, until } from "./testing/rig.ts";

// The supervisor, here the test, holds the listening socket of a gateway with two workers.

const rig = openRig();
let directory: string;
let socket: BoundSocket;
let gateway: GatewayProcess;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-socket-"));
  socket = new BoundSocket({ host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  gateway.child.kill("SIGKILL");
  await until(() => !gateway.workers().some(isAlive));
});
afterAll(async () => {
  socket.close();
  await rm(directory, { recursive: true });
});

const start = () => startGatewayProcess(rig, directory, { TOWPATH_GATEWAY_WORKERS: "2" }, socket);

/** A server that answers after `ms`, and its path at the gateway. */
async function deploySlow(ms: number): Promise<string> {
  const { label } = await rig.deploy((asked, response) => {
    asked.resume();
    setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end("{}"), ms);
  });
  return `/${label}/mcp`;
}

/** The answer's status on a new connection. @throws Error when it is refused or breaks */
function ask(path: string): Promise<number | undefined> {
  const { port } = socket.address();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = {
    host: "localhost:8080",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method: "POST", agent: false, headers };
    request(options, (response) => resolve(response.resume().statusCode))
      .once("error", reject)
      .end(body);
  });
}

test("OPS-10 after kill -9 of the first process its workers end their requests, and new connections wait for the next one", async () => {
  gateway = await start();
  const path = await deploySlow(1500);
  await until(async () => (await ask(path)) === 200);
  const underWay = Promise.all(Array.from({ length: 10 }, () => ask(path)));
  await sleep(500);
  gateway.child.kill("SIGKILL");
  await gateway.ended;
  await sleep(200);
  const waiting = Promise.all(Array.from({ length: 10 }, () => ask("/-/healthz")));
  expect(new Set(await underWay)).toEqual(new Set([200]));
  await until(() => !gateway.workers().some(isAlive));
  gateway = await start();
  expect(new Set(await waiting)).toEqual(new Set([200]));
});

test("OPS-10 when all its workers have died, the gateway ends, so that its supervisor hands it the socket again", async () => {
  gateway = await start();
  for (const pid of gateway.workers()) process.kill(pid, "SIGKILL");
  expect(await gateway.ended).toBe(1);
  const waiting = ask("/-/healthz");
  gateway = await start();
  expect(await waiting).toBe(200);
});
