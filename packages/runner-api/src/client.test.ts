import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { createRunnerClient, type RunnerClient } from "./client.ts";
import { createRunnerApi } from "./server.ts";
import { createRunnerStandIn, type RunnerStandIn } from "./testing/stand-in.ts";

let directory: string;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-rc-"));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const socket = () => ({ kind: "unix", path: join(directory, `${randomUUID().slice(0, 8)}.sock`) }) as const;

function clientOf(standIn: RunnerStandIn): RunnerClient {
  const client = createRunnerClient(standIn.address, { timeoutMs: 20_000 });
  closing.push(() => client.close());
  return client;
}

async function startStandIn(): Promise<RunnerStandIn> {
  const standIn = createRunnerStandIn(socket());
  await standIn.start();
  closing.push(() => standIn.stop());
  return standIn;
}

function deploy(standIn: RunnerStandIn, change: object = {}): string {
  const deploymentId = randomUUID();
  standIn.servers.set(deploymentId, { instanceId: randomUUID(), endpoint: socket(), ...change });
  return deploymentId;
}

/** A runner with the test's answers. */
async function clientOfAnswers(listener: RequestListener): Promise<RunnerClient> {
  const address = socket();
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(address.path, resolve));
  const client = createRunnerClient(address, { timeoutMs: 500 });
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
    () => client.close(),
  );
  return client;
}

test.runIf(isThorough)("GW-10 a hanging runner is distinguished from a slow start", async () => {
  const standIn = await startStandIn();
  const client = clientOf(standIn);
  await expect(client.ensure(deploy(standIn, { startMs: 4000 }))).resolves.toMatchObject({ state: "started" });
  standIn.hangs = true;
  const calls = [client.ensure(deploy(standIn)), client.list(), client.health()];
  for (const result of await Promise.allSettled(calls))
    expect(result).toMatchObject({ status: "rejected", reason: { code: "unreachable", waitHelps: true } });
  standIn.hangs = false;
  await client.health();
});

test("GW-10 a runner that is down is unreachable at once, and found again when it is back", async () => {
  const standIn = await startStandIn();
  const client = clientOf(standIn);
  await client.health();
  await standIn.stop();
  await expect(client.health()).rejects.toMatchObject({ code: "unreachable", message: "the runner is not running" });
  await standIn.start();
  await client.health();
  const nobody = { kind: "tcp", host: "localhost", port: 1, secrets: ["x"] } as const;
  const lost = createRunnerClient(nobody, { timeoutMs: 1000 });
  closing.push(() => lost.close());
  await expect(lost.health()).rejects.toMatchObject({ code: "unreachable", message: "the runner is not running" });
});

test("RUN-8 a call whose connection closes, as when the runner restarts, is retried", async () => {
  let calls = 0;
  const client = await clientOfAnswers((request, response) => {
    calls += 1;
    if (calls === 1) request.socket.destroy();
    else response.end('{"instances":[]}');
  });
  expect(await client.list()).toEqual([]);
  expect(calls).toBe(2);
  const always = await clientOfAnswers((request) => request.socket.destroy());
  await expect(always.list()).rejects.toMatchObject({ code: "unreachable" });
});

test("responses that violate the contract are errors of the runner, and an unknown code keeps its message", async () => {
  const answers = [
    ['{"instances":[{}]}', 200],
    ["", 200],
    ['{"error":{"code":"quota","message":"Over quota.","retryAfterMs":7}}', 429],
  ] as const;
  for (const [body, status] of answers) {
    const client = await clientOfAnswers((_request, response) => response.writeHead(status).end(body));
    const refused = await client.list().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "internal", waitHelps: false });
    if (status === 429) expect(refused).toMatchObject({ message: "Over quota.", retryAfterMs: 7 });
  }
  const silent = await clientOfAnswers((request, response) => {
    if (request.url === "/healthz") response.end();
  });
  await expect(silent.list()).rejects.toMatchObject({ code: "internal", message: expect.stringContaining("within") });
});

test("RUN-8 a runner that is killed before it reads a call counts as unreachable, not as slow", async () => {
  const address = socket();
  let connections = 0;
  // Closing a unix socket with unread bytes resets the connection, as the kernel does for a killed process.
  const server = createNetServer({ pauseOnConnect: true }, (connection) => {
    connections += 1;
    connection.on("error", () => {});
    setTimeout(() => connection.destroy(), 50);
  });
  await new Promise<void>((resolve) => server.listen(address.path, resolve));
  const client = createRunnerClient(address, { timeoutMs: 20_000 });
  closing.push(
    () => server.close(),
    () => client.close(),
  );
  const error = await client.ensure(randomUUID()).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: "unreachable", waitHelps: true });
  // The call and its repetition; the question whether the runner hangs may have come as well.
  expect(connections).toBeGreaterThanOrEqual(2);
});

test("RUN-8 a second runner does not take over the socket of a live one, and replaces the file of a killed one", async () => {
  const standIn = await startStandIn();
  await expect(createRunnerStandIn(standIn.address).start()).rejects.toThrow("Another runner already serves");
  await clientOf(standIn).health();
  const left = socket();
  await writeFile(left.path, "");
  const next = createRunnerStandIn(left);
  await next.start();
  closing.push(() => next.stop());
  expect((await stat(left.path)).mode & 0o777).toBe(0o600);
  await clientOf(next).health();
});

test("RUN-1 details of the runner's internal errors stay in its log", async () => {
  const logged: unknown[] = [];
  const fail = async () => {
    throw new Error("password of the database");
  };
  const handlers = {
    ensure: fail,
    verify: fail,
    stop: fail,
    isRunning: fail,
    state: fail,
    list: fail,
    isolation: fail,
    prewarm: fail,
    health: fail,
  };
  const api = createRunnerApi((error) => logged.push(error));
  const address = await api.listen(socket());
  api.serve(handlers);
  const client = createRunnerClient(address, { timeoutMs: 1000 });
  closing.push(
    () => api.close(),
    () => client.close(),
  );
  const refused = await client.ensure(randomUUID()).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "internal", retryAfterMs: 2000 });
  expect(String(refused)).not.toContain("password");
  expect(String(logged[0])).toContain("password");
});

test("RUN-8 a runner that waits for the lease is healthy, says so, and refuses calls until it leads", async () => {
  const api = createRunnerApi(() => {});
  const address = await api.listen({ kind: "tcp", host: "127.0.0.1", port: 0, secrets: ["secret"] });
  const client = createRunnerClient(address, { timeoutMs: 1000 });
  closing.push(
    () => api.close(),
    () => client.close(),
  );
  const port = address.kind === "tcp" ? address.port : 0;
  const health = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`);
    return [response.status, await response.json()];
  };
  expect(await health()).toEqual([200, { status: "waiting", message: "waiting for the lease" }]);
  await client.health();
  const refused = await client.ensure(randomUUID()).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: "stopping",
    waitHelps: true,
    message: expect.stringContaining("waits for the lease"),
  });
  const list = async () => ({ instances: [] });
  const none = () => Promise.reject(new Error("not asked"));
  const rest = { ensure: none, verify: none, stop: none, isRunning: none, state: none, isolation: none, prewarm: none };
  api.serve({ ...rest, list, health: async () => ({ status: "ok" }) });
  expect(await client.list()).toEqual([]);
  expect(await health()).toEqual([200, { status: "ok" }]);
});

test("OPS-11 what answers in place of a runner that is gone is no runner", async () => {
  const client = await clientOfAnswers((_request, response) => void response.writeHead(502).end("no healthy upstream"));
  await expect(client.ensure(randomUUID())).rejects.toMatchObject({ code: "unreachable" });
});
