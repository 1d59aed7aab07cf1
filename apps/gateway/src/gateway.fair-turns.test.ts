import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { answerEmpty, postTo, rpc } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig({ TOWPATH_LIMIT_CALLER_BURST: "1000" });

const noisyCalls = 200;

/** Servers of two organizations, and their names in the order in which requests reached them. */
async function deployTwo() {
  const reached: string[] = [];
  const recording = (name: string) => (request: IncomingMessage, response: ServerResponse) => {
    reached.push(name);
    answerEmpty(request, response);
  };
  return { noisy: await rig.deploy(recording("noisy")), quiet: await rig.deploy(recording("quiet")), reached };
}

/** A connection that the gateway has accepted, and the bytes of a call on it. */
async function connected({ url }: DeployedServer, id: number): Promise<{ socket: Socket; call: string; text: string }> {
  const socket = connect(rig.gateway.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  const body = rpc().replace('"id":1', `"id":${id}`);
  const head = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\n`;
  const one = { socket, call: `${head}content-length: ${body.length}\r\n\r\n${body}`, text: "" };
  socket.on("data", (chunk) => {
    one.text += chunk;
  });
  // The gateway accepts one connection in a turn: without a first call, most would still wait for that.
  socket.write(one.call);
  await until(() => one.text.includes("result"));
  one.text = "";
  return one;
}
type Connected = Awaited<ReturnType<typeof connected>>;
const metricsOf = async () => (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/metrics`)).text();
const waitingIn = (metrics: string) => Number(/^towpath_gateway_requests_waiting (\d+)$/m.exec(metrics)?.[1]);
const closeAll = (all: readonly Connected[]) => {
  for (const { socket } of all) socket.destroy();
};

test("GW-8 a call that comes with a burst of another organization's is not behind all of it, and all are answered", async () => {
  const { noisy, quiet, reached } = await deployTwo();
  const burst = await Promise.all(Array.from({ length: noisyCalls }, (_, at) => connected(noisy, at)));
  const [one, metrics] = [await connected(quiet, 1), await connected(quiet, 2)];
  reached.length = 0;
  // All are in the gateway's sockets before it reads any of them, the quiet one and the look at its metrics last.
  for (const { socket, call } of [...burst, one]) socket.write(call);
  metrics.socket.write("GET /-/metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await until(() => [...burst, one].every(({ text }) => text.includes("result")));
  expect(reached.length).toBe(noisyCalls + 1);
  await until(() => metrics.text.includes("requests_waiting "));
  expect(waitingIn(metrics.text)).toBeGreaterThan(noisyCalls / 2);
  expect(reached.indexOf("quiet")).toBeLessThan(noisyCalls / 2);
  expect(burst.filter(({ text }) => text.startsWith("HTTP/1.1 200")).length).toBe(noisyCalls);
  closeAll([...burst, one, metrics]);
});

test("GW-8 RUN-3 calls that waited for the same server continue a few at a time", async () => {
  const { noisy, reached } = await deployTwo();
  const { lookUp } = rig.runner;
  const started = Promise.withResolvers<void>();
  rig.runner.lookUp = async (key) => {
    await started.promise;
    return await lookUp(key);
  };
  const held = Array.from({ length: noisyCalls }, () => postTo(noisy.url));
  await until(async () => /^towpath_gateway_held 200$/m.test(await metricsOf()));
  started.resolve();
  let most = 0;
  while (reached.length < noisyCalls) {
    most = Math.max(most, waitingIn(await metricsOf()));
  }
  expect(most).toBeGreaterThan(noisyCalls / 4);
  expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([200]));
  rig.runner.lookUp = lookUp;
});

test("GW-8 a client that disconnects while waiting for a turn is not forwarded, and doesn't delay others for long", async () => {
  const { noisy, quiet, reached } = await deployTwo();
  const burst = await Promise.all(Array.from({ length: noisyCalls }, (_, at) => connected(noisy, at)));
  reached.length = 0;
  for (const { socket, call } of burst) socket.write(call);
  for (const { socket } of burst.slice(10)) socket.resetAndDestroy();
  await until(() => burst.slice(0, 10).every(({ text }) => text.includes("result")));
  expect((await postTo(quiet.url)).status).toBe(200);
  expect((await postTo(noisy.url)).status).toBe(200);
  await expect.poll(async () => waitingIn(await metricsOf())).toBe(0);
  expect(reached.length).toBeLessThan(noisyCalls / 2);
  closeAll(burst);
});
