import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRunnerClient, type Endpoint, type RunnerClient, secretHeader } from "@towpath/runner-api";
import { createRunnerStandIn, type RunnerStandIn, standInSecret } from "@towpath/runner-api/testing";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { until } from "../testing/rig.ts";
import { startUnixServer } from "../testing/unix-server.ts";
import type { Lease } from "./instance-lease.ts";
import { Leases } from "./leases.ts";
import { idleConnectionMs, Upstreams } from "./upstreams.ts";

let directory: string;
let runner: RunnerStandIn;
let client: RunnerClient;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-ls-"));
  runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  await runner.start();
  client = createRunnerClient(runner.address, { timeoutMs: 5000 });
});
afterAll(async () => {
  await client.close();
  await runner.stop();
  await rm(directory, { recursive: true, force: true });
});

function deploy(endpoint: Endpoint = { kind: "unix", path: join(directory, randomUUID()) }, change = {}): string {
  const deploymentId = randomUUID();
  runner.servers.set(deploymentId, { instanceId: randomUUID(), endpoint, ...change });
  return deploymentId;
}

const untilLapsed = ({ validUntil }: Lease) => until(() => performance.now() > validUntil);

test.runIf(isThorough)("RUN-3 a thousand redeployments leave no pool and no lease behind", async () => {
  runner.leaseMs = 40;
  const upstreams = new Upstreams();
  const leases = new Leases({ runner: client, upstreams, withoutRunnerMs: 50 });
  const server = await startUnixServer((_request, response) => response.end("ok"));
  let open = 0;
  server.server.on("connection", (socket) => {
    open++;
    socket.on("close", () => open--);
  });
  for (let at = 0; at < 1000; at++) {
    // Every tenth has a process behind its socket, so that there are connections to close too.
    const deploymentId = deploy(at % 10 === 0 ? server.endpoint : undefined);
    leases.requestStarted(deploymentId);
    const { upstream } = await leases.acquire(deploymentId);
    if (at % 10 === 0) await (await upstream.request({ path: "/", method: "GET" })).body.dump();
    leases.requestEnded(deploymentId);
  }
  await until(() => leases.count === 0 && upstreams.count === 0 && open === 0);
  leases.stop();
  await server.close();
});

test("RUN-3 a deployment that the runner no longer knows is forgotten with its connections", async () => {
  runner.leaseMs = 600;
  const upstreams = new Upstreams();
  const leases = new Leases({ runner: client, upstreams });
  const deploymentId = deploy();
  leases.requestStarted(deploymentId);
  await leases.acquire(deploymentId);
  expect([leases.count, upstreams.count]).toEqual([1, 1]);
  runner.servers.delete(deploymentId);
  // While the request runs, the lease is renewed, and the runner says no.
  await until(() => upstreams.count === 0);
  leases.requestEnded(deploymentId);
  expect(leases.count).toBe(0);
  leases.stop();
});

test("RUN-3 a request that begins in the second half of a lease keeps it alive", async () => {
  // A clock that goes on as usual, but for the jump.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  runner.leaseMs = 8000;
  const leases = new Leases({ runner: client, upstreams: new Upstreams() });
  const deploymentId = deploy();
  const asked = () => runner.ensured.filter((id) => id === deploymentId).length;
  const first = await leases.acquire(deploymentId);
  await vi.advanceTimersByTimeAsync(4100);
  expect(asked()).toBe(1);
  runner.leaseMs = 1400;
  leases.requestStarted(deploymentId);
  expect(leases.acquire(deploymentId)).toBe(first);
  await until(() => asked() >= 3);
  leases.requestEnded(deploymentId);
  leases.stop();
});

test("RUN-3 the gateway closes idle connections long before the harness does", async () => {
  const harness = new URL("../../../../python/towpath_runner/towpath_runner/serve.py", import.meta.url);
  const seconds = Number(/^KEEP_ALIVE_SECONDS = (\d+)$/m.exec(await readFile(harness, "utf8"))?.[1]);
  expect(idleConnectionMs).toBeLessThanOrEqual((seconds * 1000) / 2);
});

test.runIf(isThorough)(
  "RUN-3 GW-10 a hanging runner lets no live lease lapse, and is distinguished from a slow one",
  async () => {
    runner.leaseMs = 700;
    const leases = new Leases({ runner: client, upstreams: new Upstreams() });
    const warm = deploy();
    leases.requestStarted(warm);
    const lease = await leases.acquire(warm);
    runner.hangs = true;
    await untilLapsed(lease);
    // Lapsed: the first request waits until it is clear that nobody answers, the next ones don't.
    expect(await leases.acquire(warm)).toBe(lease);
    expect(leases.acquire(warm)).toBe(lease);
    expect(await leases.isRunning(warm, lease.instanceId)).toBe(true);
    await expect(leases.acquire(deploy())).rejects.toThrow("the runner does not answer");
    expect(leases.acquire(warm)).toBe(lease);

    runner.hangs = false;
    await until(() => leases.acquire(warm) !== lease);
    leases.requestEnded(warm);
    const slow = deploy(undefined, { startMs: 3500 });
    expect((await leases.acquire(slow)).deploymentId).toBe(slow);
    leases.stop();
  },
  30_000,
);

test.runIf(isThorough)(
  "GW-10 a server that may have been frozen before the runner hung is used only when it answers",
  async () => {
    runner.leaseMs = 600;
    const leases = new Leases({ runner: client, upstreams: new Upstreams() });
    let isFrozen = true;
    const server = await startUnixServer((_request, response) => {
      if (!isFrozen) response.end();
    });
    const idle = deploy(server.endpoint);
    const lease = await leases.acquire(idle);
    await untilLapsed(lease);
    runner.hangs = true;
    const refusal = await Promise.resolve(leases.acquire(idle)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "server_unreachable", waitMs: 0 });
    expect((refusal as Error).message).toContain("the runner does not answer");
    // Lists are answered as those of a sleeping one.
    expect(await leases.stateOf(idle)).toBe("stopped");

    isFrozen = false;
    expect(await leases.acquire(idle)).toBe(lease);
    expect(await leases.stateOf(idle)).toBe("ready");
    // Nothing freezes it now: requests don't wait to hear that again.
    expect(leases.acquire(idle)).toBe(lease);
    runner.hangs = false;
    leases.stop();
    await server.close();
  },
  30_000,
);

test("GW-10 without the runner, servers that another worker had leased are reached if they still answer", async () => {
  runner.leaseMs = 600;
  const [one, other] = [0, 1].map(() => new Leases({ runner: client, upstreams: new Upstreams() }));
  const server = await startUnixServer((_request, response) => response.end());
  const gone = await startUnixServer((_request, response) => response.end());
  const [here, ended, network] = [
    deploy(server.endpoint),
    deploy(gone.endpoint),
    deploy({ kind: "tcp", host: "127.0.0.1", port: 9 }),
  ];
  const { instanceId } = (await one?.acquire(here)) ?? {};
  await one?.acquire(ended);
  await one?.acquire(network);
  await gone.close();
  await runner.stop();
  const code = (deploymentId: string) =>
    Promise.resolve(other?.acquire(deploymentId)).catch((error: { code: string }) => error.code);
  expect(await code(here)).toBe("server_failed_to_start");
  // Not knowing is no answer: clients would give a session up that runs on.
  await expect(other?.isRunning(here, null)).rejects.toMatchObject({ code: "server_failed_to_start" });
  if (other) other.saved.onUnknown = async () => other.saved.restore(one?.save() ?? []);
  expect(await other?.isRunning(here, "another")).toBe(false);
  expect(await other?.isRunning(here, null)).toBe(true);
  expect(await other?.isRunning(here, instanceId ?? "")).toBe(true);
  expect(await other?.acquire(here)).toMatchObject({
    instanceId,
    endpoint: { ...server.endpoint, secret: standInSecret },
  });
  expect(await code(ended)).toBe("server_unreachable");
  // An address and port may be another tenant's by now.
  expect(await code(network)).toBe("server_failed_to_start");
  // The successor of the successor knows it too.
  expect(other?.save().map(({ deploymentId }) => deploymentId)).toContain(here);
  await runner.start();
  await until(async () => (await code(network)) !== "server_failed_to_start");
  for (const leases of [one, other]) leases?.stop();
  await server.close();
});

test("GW-13 RUN-7 a request at an instance that ended without closing its connection ends once another one runs", async () => {
  runner.leaseMs = 60_000;
  const upstreams = new Upstreams();
  const leases = new Leases({ runner: client, upstreams });
  const [silent, next] = await Promise.all([1, 2].map(() => startUnixServer(() => {})));
  onTestFinished(async () => {
    leases.stop();
    await Promise.all([silent?.close(), next?.close(), upstreams.destroy()]);
  });
  const deploymentId = deploy(silent?.endpoint);
  leases.requestStarted(deploymentId);
  const first = await leases.acquire(deploymentId);
  const headers = { [secretHeader]: first.endpoint.secret };
  const sent = first.upstream.request({ path: "/", method: "POST", body: "x", headers }).then(
    () => "answered",
    () => "ended",
  );
  leases.invalidate(first);
  // The same instance: it may still answer.
  const again = await leases.acquire(deploymentId);
  expect(again.instanceId).toBe(first.instanceId);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await Promise.race([sent, "open"])).toBe("open");
  leases.invalidate(again);
  runner.servers.set(deploymentId, { instanceId: randomUUID(), endpoint: next?.endpoint ?? first.endpoint });
  await leases.acquire(deploymentId);
  expect(await sent).toBe("ended");
}, 20_000);
