import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDialFailure } from "@towpath/runner-api";
import type { Dispatcher } from "undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../testing/rig.ts";
import { ServerConnections } from "./server-connections.ts";

let directory: string;
let path: string;
let server: Server;
let sockets: Socket[];
let connections: ServerConnections;
/** What the server has received, by connection. */
let received: string[];
/** Answers the n-th request on a connection. */
let answer: (socket: Socket, request: string, count: number) => void;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-sc-"));
  path = join(directory, "mcp.sock");
  sockets = [];
  received = [];
  answer = (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  server = createServer((socket) => {
    const at = sockets.push(socket) - 1;
    received.push("");
    let count = 0;
    socket.on("error", () => {});
    socket.on("data", (data) => {
      received[at] += data.toString("latin1");
      answer(socket, data.toString("latin1"), ++count);
    });
  }).listen(path);
  await once(server, "listening");
  connections = new ServerConnections({ endpoint: { kind: "unix", path }, connectMs: 1000, idleMs: 200 });
});

afterEach(async () => {
  await connections.destroy();
  for (const socket of sockets) socket.destroy();
  server.close();
  await rm(directory, { recursive: true, force: true });
});

type Answered = { status: number; body: string; error: Error | null; controller: Dispatcher.DispatchController };

function send(
  options: Partial<Dispatcher.DispatchOptions> = {},
  handler: Dispatcher.DispatchHandler = {},
): Promise<Answered> {
  return new Promise((resolve) => {
    const answered = { status: 0, body: "", error: null } as unknown as Answered;
    connections.dispatch(
      { path: "/mcp", method: "POST", headers: ["Host", "a.example"], body: Buffer.from("{}"), ...options },
      {
        onRequestStart(controller, context) {
          answered.controller = controller;
          handler.onRequestStart?.(controller, context);
        },
        onResponseStart(controller, status, headers) {
          answered.status = status;
          handler.onResponseStart?.(controller, status, headers);
        },
        onResponseData(controller, chunk) {
          answered.body += chunk.toString("latin1");
          handler.onResponseData?.(controller, chunk);
        },
        onResponseEnd: () => resolve(answered),
        onResponseError: (_controller, error) => resolve({ ...answered, error }),
      },
    );
  });
}

test("GW-3 a request is sent as it was given, on a connection that is free", async () => {
  const headers = ["Host", "a.example", "X-Twice", "1", "x-twice", "2", "Empty", ""];
  expect(await send({ headers })).toMatchObject({ status: 200, body: "ok", error: null });
  expect(await send({ method: "GET", body: null, headers })).toMatchObject({ status: 200 });
  const rest = "host: a.example\r\nconnection: keep-alive\r\nX-Twice: 1\r\nx-twice: 2\r\nEmpty: \r\n";
  expect(received).toEqual([
    `POST /mcp HTTP/1.1\r\n${rest}content-length: 2\r\n\r\n{}GET /mcp HTTP/1.1\r\n${rest}\r\n`,
  ]);
  const both = await Promise.all([send({ body: null }), send({ body: Buffer.alloc(100_000, "a") })]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(sockets.length).toBe(2);
  // Of undici's interface: what pings a server uses.
  const { statusCode, body } = await connections.request({ method: "OPTIONS", path: "/", headers: { host: "h" } });
  expect([statusCode, await body.text()]).toEqual([200, "ok"]);
});

test("GW-9 a header or path that would be read as more than one is not sent", async () => {
  const odd: Partial<Dispatcher.DispatchOptions>[] = [
    { headers: ["A", "b\r\nC: d"] },
    { headers: ["A\r\nB", "c"] },
    { headers: ["A", "b\0"] },
    { headers: ["A", "\u2028"] },
    { path: "/a b" },
    { path: "/a\r\nb" },
    { method: "GET /" },
  ];
  for (const options of odd) expect((await send(options)).error, JSON.stringify(options)).not.toBeNull();
  expect(sockets).toEqual([]);
});

test("GW-13 a connection that the server has closed, or written to unasked, is not used again", async () => {
  await send();
  sockets[0]?.end();
  await until(() => sockets[0]?.destroyed === true);
  expect(await send()).toMatchObject({ status: 200, error: null });
  // Sent before the request, this would be taken for its answer.
  sockets[1]?.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
  await until(() => sockets[1]?.destroyed === true);
  expect(await send()).toMatchObject({ body: "ok" });
  answer = (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n");
  expect(await send()).toMatchObject({ body: "ok" });
  answer = (socket) => socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  expect(await send()).toMatchObject({ body: "ok" });
  expect(await send()).toMatchObject({ body: "ok" });
  expect(sockets.length).toBe(5);
});

test("GW-13 an end before or within an answer is an error, and only a failed dial counts as one", async () => {
  const failures: ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"),
    (socket) => socket.end("no HTTP\r\n\r\n"),
  ];
  for (const fails of failures) {
    answer = fails;
    const { error } = await send();
    expect(error).not.toBeNull();
    expect(isDialFailure(error)).toBe(false);
  }
  server.close();
  for (const socket of sockets) socket.destroy();
  expect(isDialFailure((await send()).error)).toBe(true);
  await connections.close();
  expect(isDialFailure((await send()).error)).toBe(true);
});

test("GW-3 a client that leaves ends the request, sent or not", async () => {
  const gone = new Error("gone");
  let isClosed = false;
  answer = (socket) => {
    socket.on("close", () => {
      isClosed = true;
    });
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart");
  };
  const cut = await send({}, { onResponseData: (controller) => controller.abort(gone) });
  expect(cut).toMatchObject({ status: 200, body: "part", error: gone });
  await until(() => isClosed);
  const early = await send({}, { onRequestStart: (controller) => controller.abort(gone) });
  expect(early.error).toBe(gone);
  expect(sockets.length).toBe(1);
});

test("GW-14 a paused answer stops its server, and goes on where it stopped", async () => {
  const size = 8 * 1024 * 1024;
  answer = (socket) =>
    socket.write(
      Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`), Buffer.alloc(size, "a")]),
    );
  let taken = 0;
  let controller: Dispatcher.DispatchController | null = null;
  const sent = send(
    {},
    {
      onResponseStart: (own) => {
        controller = own;
        own.pause();
      },
      onResponseData: (_own, { length }) => {
        taken += length;
      },
    },
  );
  await until(() => controller !== null);
  await sleep(100);
  // What one read has brought.
  expect(taken).toBeLessThanOrEqual(64 * 1024);
  expect(sockets[0]?.writableLength).toBeGreaterThan(0);
  (controller as Dispatcher.DispatchController | null)?.resume();
  expect((await sent).body.length).toBe(size);
});

test("RUN-3 idle connections are closed, and a close waits for what is under way", async () => {
  await send();
  await until(() => sockets[0]?.destroyed === true);
  let finish = () => {};
  answer = (socket) => {
    finish = () => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  };
  const sent = send();
  await until(() => received.length === 2 && received[1] !== "");
  const closed = connections.close();
  finish();
  expect(await sent).toMatchObject({ body: "ok" });
  await closed;
  await until(() => sockets[1]?.destroyed === true);
});
