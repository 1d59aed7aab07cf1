import { randomUUID } from "node:crypto";
import { createServer as createHttpServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { openClock } from "../../../tests/clock.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { answerEmpty, connectLegacy, connectModern, emptyResult } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { createRig, type DeployedServer, openRig, until } from "./testing/rig.ts";
import { startUnixServer } from "./testing/unix-server.ts";

const clock = openClock();
const rig = openRig({ TOWPATH_GATEWAY_HOLD_MS: "1000" });

const deploy = () => rig.deploy(answerEmpty);
const call = (server: DeployedServer, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`, {
    method: "POST",
    headers,
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
const set = (server: DeployedServer, change: object) => {
  const instance = rig.runner.servers.get(server.deploymentId);
  if (!instance) throw new Error("not deployed");
  rig.runner.servers.set(server.deploymentId, { ...instance, ...change });
};
const leasesOf = (server: DeployedServer) => rig.runner.ensured.filter((id) => id === server.deploymentId).length;

describe("starting servers", () => {
  test("RUN-3 GW-1 requests are held while a server starts, share one start, and then need no runner", async () => {
    const server = await deploy();
    set(server, { startMs: 200 });
    const answers = await Promise.all(Array.from({ length: 5 }, () => call(server)));
    expect(answers.map((response) => response.status)).toEqual([200, 200, 200, 200, 200]);
    expect(leasesOf(server)).toBe(1);
    expect((await call(server)).status).toBe(200);
    expect(leasesOf(server)).toBe(1);
    const rows = (await rig.rows(server.projectId, 6)).sort((a, b) => b.heldMs - a.heldMs);
    expect(rows[0]?.heldMs).toBeGreaterThan(150);
    expect(rows[5]?.heldMs).toBe(0);
  });

  test("GW-13 RUN-3 a server that has just started gets a few of the calls that waited, and more as it answers", async () => {
    let [open, most, all] = [0, 0, 0];
    const server = await rig.deploy((request, response) => {
      open += 1;
      all += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        answerEmpty(request, response);
      }, 20);
    });
    set(server, { startMs: 200 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(server)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(all).toBe(20);
    expect(most).toBeLessThan(20);
  });

  test("GW-13 RUN-3 calls that wait for a server that dies at its first calls go to its next instance, once each", async () => {
    const seen: number[] = [];
    let dying = true;
    const server = await rig.deploy((request, response) => {
      seen.push(1);
      if (dying) request.socket.destroy();
      else answerEmpty(request, response);
    });
    set(server, { startMs: 100 });
    const calls = Array.from({ length: 12 }, () => call(server));
    await until(() => seen.length > 0);
    dying = false;
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    // Those that were sent are not sent again.
    expect(statuses.filter((status) => status === 502).length).toBeLessThanOrEqual(4);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(8);
    expect(seen.length).toBe(12);
  });

  test("RUN-3 a server that cannot start: 503 with the reason and Retry-After; one that takes too long: 504", async () => {
    const server = await deploy();
    set(server, {
      failure: {
        code: "start_failed",
        message: "ModuleNotFoundError: no module named x",
        retryAfterMs: 4500,
      },
    });
    const failed = await call(server);
    expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await failed.json()).toMatchObject({
      id: 1,
      error: { message: "ModuleNotFoundError: no module named x", data: { towpath: "server_failed_to_start" } },
    });
    set(server, { failure: undefined, startMs: 1500 });
    expect((await call(server)).status).toBe(504);
    await until(async () => (await call(server)).status === 200);
    const rows = (await rig.rows(server.projectId, 3)).reverse();
    expect(rows.slice(0, 2).map((row) => [row.httpStatus, row.outcome, row.isError])).toEqual([
      [503, "gateway_error", true],
      [504, "gateway_error", true],
    ]);
  });

  test("RUN-8 callers of a server whose layers are lost learn at once that it is being built again", async () => {
    const server = await deploy();
    set(server, { failure: { code: "layers_lost", message: "Not stored.", retryAfterMs: 5000 } });
    const refused = await call(server);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    const { error } = (await refused.json()) as { error: { message: string; data: object } };
    expect(error.message).toMatch(/^The server is being built again(?!.*redeploy)/is);
    expect(error.data).toEqual({ towpath: "server_rebuilding", retryAfterSeconds: 5 });
    // A call that is held asks again until its time is up.
    expect(leasesOf(server)).toBe(1);
    await rig.rows(server.projectId, 1);
  });

  test("RUN-3 a client that leaves while it is held is not forwarded later", async () => {
    let reached = 0;
    const server = await rig.deploy((request, response) => {
      reached++;
      answerEmpty(request, response);
    });
    set(server, { startMs: 300 });
    const abort = new AbortController();
    const held = fetch(server.url, { method: "POST", body: emptyResult, signal: abort.signal });
    await until(() => leasesOf(server) === 1);
    abort.abort();
    await expect(held).rejects.toThrow();
    // One that waits for the same start, and is forwarded after those that came before it.
    expect((await call(server)).status).toBe(200);
    expect([leasesOf(server), reached]).toEqual([1, 1]);
  });

  test("RUN-6 GW-13 a failed dial asks for the instance again; nothing that was sent is sent twice", async () => {
    const server = await deploy();
    expect((await call(server)).status).toBe(200);
    await server.upstream.close();
    let hits = 0;
    const next = await startUnixServer((request, response) => {
      hits++;
      if (hits === 1) answerEmpty(request, response);
      else request.socket.destroy();
    });
    set(server, { instanceId: randomUUID(), endpoint: next.endpoint });
    expect((await call(server)).status).toBe(200);
    expect(leasesOf(server)).toBe(2);
    // The server takes the request and breaks off: it may have acted, so the request is not sent again.
    const broken = await call(server);
    expect([broken.status, hits]).toEqual([502, 2]);
    expect(await broken.json()).toMatchObject({ error: { data: { towpath: "server_unreachable" } } });
    // Nothing is there and the runner knows of nothing else: the request waits for as long as it is held.
    await next.close();
    const gone = await call(server);
    expect([gone.status, gone.headers.get("retry-after")]).toEqual([502, "2"]);
  });

  test("a server at an address and port is served as one on a unix socket is, also after another took the port", async () => {
    const servers = [1, 2].map(() => createHttpServer(createMcpListener()));
    // What the harness of an instance with another secret answers.
    const refuse = (server: Server) =>
      server.removeAllListeners("request").on("request", (_request, response: ServerResponse) => {
        response.writeHead(401, { "www-authenticate": "Towpath" }).end();
      });
    const deployed = await deploy();
    await deployed.upstream.close();
    for (const [at, server] of servers.entries()) {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      set(deployed, { instanceId: randomUUID(), endpoint: { kind: "tcp", host: "127.0.0.1", port } });
      // No sooner: the stream that a client opened last may arrive after the client has closed. If it were refused while the
      // runner still names the first instance, it would lease that one again.
      for (const former of servers.slice(0, at)) refuse(former);
      const modern = await connectModern(deployed.url);
      const old = await connectLegacy(deployed.url);
      for (const client of [modern, old.client]) {
        const echo = await client.callTool({ name: "echo", arguments: { text: "over tcp" } });
        expect(echo.content).toEqual([{ type: "text", text: "over tcp" }]);
        await client.close();
      }
    }
    expect(leasesOf(deployed)).toBe(2);
    for (const server of servers) refuse(server);
    expect((await call(deployed)).status).toBe(502);
    for (const server of servers) server.close();
  });

  test("RUN-3 a lease is renewed while a request runs, so that its server is not frozen, and lapses after", async () => {
    rig.runner.leaseMs = 1200;
    let release = () => {};
    const server = await rig.deploy((request, response) => {
      release = () => answerEmpty(request, response);
    });
    const running = call(server);
    await until(() => leasesOf(server) >= 3);
    release();
    expect((await running).status).toBe(200);
    // At most the renewal that is under way: for two leases, nothing asks for another one.
    const count = leasesOf(server);
    await new Promise((resolve) => setTimeout(resolve, 2400));
    expect(leasesOf(server)).toBeLessThanOrEqual(count + 1);
    rig.runner.leaseMs = 10_000;
  });

  test("GW-10 without the runner, running servers go on being served, and others get 503", async () => {
    rig.runner.leaseMs = 600;
    const [warm, cold] = [await deploy(), await deploy()];
    expect((await call(warm)).status).toBe(200);
    await rig.runner.stop();
    clock.pass(700);
    expect((await call(warm)).status).toBe(200);
    expect((await call(cold)).status).toBe(503);
    await rig.runner.start();
    rig.runner.leaseMs = 10_000;
    expect((await call(cold)).status).toBe(200);
  });
});

test.runIf(isThorough)(
  "GW-10 while the runner hangs, running servers answer, and others say why they cannot",
  async () => {
    const other = await createRig({ TOWPATH_GATEWAY_HOLD_MS: "4000" });
    const [warm, cold] = [await other.deploy(answerEmpty), await other.deploy(answerEmpty)];
    const ask = (server: DeployedServer) => fetch(server.url, { method: "POST", body: emptyResult });
    other.runner.leaseMs = 600;
    expect((await ask(warm)).status).toBe(200);
    other.runner.hangs = true;
    clock.pass(700);
    expect((await ask(warm)).status).toBe(200);
    expect((await ask(warm)).status).toBe(200);
    const refused = await ask(cold);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await refused.text()).toContain("the runner does not answer");
    other.runner.hangs = false;
    expect((await ask(cold)).status).toBe(200);
    await other.close();
  },
);

test("GW-1 a route that changes or goes is seen at once", async () => {
  const server = await deploy();
  expect((await call(server)).status).toBe(200);
  await rig.database.pool.query("DELETE FROM route WHERE label = $1", [server.label]);
  // An absent name answers as a private one does.
  await until(async () => (await call(server)).status === 401);
});

test("GW-1 PRJ-11 a renamed server answers at its former address too, until that ends or another server has it", async () => {
  const server = await deploy();
  const former = `former-${server.label}`;
  const callFormer = () => call({ ...server, label: former });
  expect((await callFormer()).status).toBe(401);
  const { pool } = rig.database;
  const keep = (expires: string) =>
    pool.query(
      `INSERT INTO former_name (name, project_id, expires_at) VALUES ($1, $2, $3::text::timestamptz)
       ON CONFLICT (name) DO UPDATE SET expires_at = $3::text::timestamptz`,
      [former, server.projectId, expires],
    );
  await keep("infinity");
  await until(async () => (await callFormer()).status === 200);
  expect((await call(server)).status).toBe(200);
  await keep("2020-01-01");
  await until(async () => (await callFormer()).status === 401);
  await keep("infinity");
  await until(async () => (await callFormer()).status === 200);
  // An earlier version of Towpath may have given the name to another server.
  const other = await rig.deploy((request, response) => void response.writeHead(418).end(request.resume() && ""), {
    label: former,
  });
  await until(async () => (await call(other)).status === 418);
  expect((await call(server)).status).toBe(200);
});

test("GW-1 PRJ-11 calls under way when their route goes get their answers, whole; only streams are cut", async () => {
  const waiting = new Map<string, ServerResponse>();
  const server = await rig.deploy((request, response) => {
    request.resume();
    const kind = String(request.headers["x-kind"]);
    waiting.set(kind, response);
    if (kind === "begun") response.writeHead(200, { "content-length": emptyResult.length }).write(emptyResult[0]);
    if (kind === "stream") response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
  });
  const open = (kind: string) => call(server, { "x-kind": kind });
  const unanswered = open("unanswered");
  const [begun, stream] = [await open("begun"), await open("stream")];
  const bodies = [begun.text(), stream.text().catch(() => "cut")];
  await until(() => waiting.size === 3);
  await rig.database.pool.query("DELETE FROM route WHERE label = $1", [server.label]);
  expect(await bodies[1]).toBe("cut");
  waiting.get("unanswered")?.end(emptyResult);
  waiting.get("begun")?.end(emptyResult.slice(1));
  expect([(await unanswered).status, await (await unanswered).text(), await bodies[0]]).toEqual([
    200,
    emptyResult,
    emptyResult,
  ]);
  expect((await call(server)).status).toBe(401);
});
