import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { postTo, rpc, type Sent } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();
/** A server that hands each request to what the test has put here. */
let server: DeployedServer;
let serve: (request: IncomingMessage, response: ServerResponse) => void;
beforeAll(async () => {
  server = await rig.deploy((request, response) => serve(request, response));
});

const post = (...sent: Sent) => postTo(server.url, ...sent);

test("GW-3 headers and events pass the moment they are sent, byte for byte", async () => {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  serve = (request, response) => {
    request.resume();
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    resolve(response);
  };
  const answer = await post();
  const stream = await promise;
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const reader = answer.body?.getReader();
  for (const piece of [
    ": ping\n\n",
    "id: 7\nretry: 100\ndata:\n\n",
    'data: {"jsonrpc":"2.0","id":1,',
    '"result":{}}\n\n',
  ]) {
    // Nothing more is sent until this piece has arrived: a gateway that waited for more would hang here.
    stream.write(piece);
    const { value } = (await reader?.read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toBe(piece);
  }
  stream.end();
  expect((await reader?.read())?.done).toBe(true);
});

test("GW-7 an answer in a stream has its row before the stream ends, and only one", async () => {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  serve = (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"jsonrpc":"2.0","id":1,"result":{"isError":true}}\n\n');
    resolve(response);
  };
  const answer = await post(rpc("prompts/get"));
  const own = async () => (await rig.rows(server.projectId, 1)).filter(({ method }) => method === "prompts/get");
  await until(async () => (await own()).length > 0);
  (await promise).end();
  expect(await answer.text()).toContain("isError");
  await post(rpc("prompts/list")).then((last) => last.body?.cancel());
  await until(async () => (await rig.rows(server.projectId, 1))[0]?.method === "prompts/list");
  expect(await own()).toMatchObject([{ outcome: "tool_error", isError: true, httpStatus: 200 }]);
});

test("GW-3 GW-7 a short complete stream is sent in one piece with its length, byte for byte, after its row", async () => {
  const event = 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"text":"Grüße 🚤"}}\n\n';
  serve = (request, response) => {
    // Head, event and end in one piece, as a server that has its answer at hand sends them.
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" }).end(event);
    });
  };
  const answer = await post(rpc("completion/complete"));
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(event)));
  expect(await answer.text()).toBe(event);
  await until(async () => (await rig.rows(server.projectId, 1))[0]?.method === "completion/complete");
});

test("GW-3 a client that closes a stream ends the server's request at once", async () => {
  const closed = Promise.withResolvers<number>();
  const opened = Promise.withResolvers<void>();
  serve = (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    response.on("close", () => closed.resolve(performance.now()));
    opened.resolve();
  };
  const abort = new AbortController();
  const answer = await post(rpc(), {}, abort.signal);
  await opened.promise;
  abort.abort();
  await closed.promise;
  await answer.text().catch(() => {});
  await until(async () => (await rig.rows(server.projectId, 1))[0]?.outcome === "closed_by_client");
  expect((await rig.rows(server.projectId, 1))[0]).toMatchObject({ isError: false, httpStatus: 200 });
});

test("GW-3 a client that disconnects before the answer ends the server's request at once", async () => {
  const closed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  serve = (request, response) => {
    request.resume();
    response.on("close", () => closed.resolve());
    opened.resolve();
  };
  const abort = new AbortController();
  const answer = post(rpc("tools/list"), {}, abort.signal);
  await opened.promise;
  abort.abort();
  await expect(answer).rejects.toThrow();
  await closed.promise;
  await until(async () => (await rig.rows(server.projectId, 1))[0]?.httpStatus === 499);
});

test("GW-3 a server that breaks off within an answer breaks the client's stream: it never looks whole", async () => {
  serve = (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: {", () => response.destroy());
  };
  const answer = await post(rpc("resources/read"));
  await expect(answer.text()).rejects.toThrow();
  await until(async () => (await rig.rows(server.projectId, 1))[0]?.outcome === "closed_by_server");
  expect((await rig.rows(server.projectId, 1))[0]).toMatchObject({ isError: true, method: "resources/read" });
});

test("GW-3 a client that reads slowly slows the server down instead of filling the gateway", async () => {
  let sent = 0;
  const total = 64 * 1024 * 1024;
  serve = (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const chunk = Buffer.alloc(64 * 1024, 1);
    const more = () => {
      while (sent < total) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  };
  const request = httpRequest(server.url, { method: "POST", headers: { "content-type": "application/json" } });
  request.end(rpc());
  const [response] = (await once(request, "response")) as [IncomingMessage];
  // The client reads nothing, so soon nothing more is sent.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(sent).toBeLessThan(total / 2);
  let received = 0;
  for await (const chunk of response) received += chunk.length;
  expect(received).toBe(total);
});
