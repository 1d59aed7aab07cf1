import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { drainHttpServer, listen } from "./http-server.ts";
import { listenAddressFrom } from "./inherited-socket.ts";

const own = { host: "127.0.0.1", port: 0 };
let server: Server;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
afterEach(() => server?.closeAllConnections());

async function serve(answerMs: (url: string) => number): Promise<number> {
  server = createServer(({ url = "" }, response) => {
    response.write("a");
    setTimeout(() => response.end("b"), answerMs(url));
  });
  return listen(server, own);
}

/** Resolves to the answer's head. */
async function ask(port: number, path: string): Promise<IncomingMessage> {
  const [response]: IncomingMessage[] = await once(request({ port, path, agent }).end(), "response");
  if (response === undefined) throw new Error("no response");
  return response;
}

test("OPS-10 a process takes the supervisor's socket only if it is meant", () => {
  expect(listenAddressFrom({}, own, 7)).toEqual(own);
  expect(listenAddressFrom({ LISTEN_FDS: "1" }, own, 7)).toEqual({ fd: 3 });
  expect(listenAddressFrom({ LISTEN_FDS: "1", LISTEN_PID: "7" }, own, 7)).toEqual({ fd: 3 });
  expect(listenAddressFrom({ LISTEN_FDS: "1", LISTEN_PID: "8" }, own, 7)).toEqual(own);
});

test("OPS-10 a draining server answers the next request on an idle connection, says that it closes it, and ends", async () => {
  const port = await serve(() => 0);
  expect((await (await ask(port, "/")).toArray()).join("")).toBe("ab");
  const drained = drainHttpServer(server, { requestsMs: 20_000, idleMs: 20_000 });
  await expect(once(request({ port, agent: false }).end(), "response")).rejects.toThrow("ECONNREFUSED");
  const last = await ask(port, "/");
  expect(last.headers.connection).toBe("close");
  last.resume();
  await drained;
});

test("OPS-10 a draining server lets a response end, and cuts it at the limit", async () => {
  const port = await serve((url) => (url === "/short" ? 500 : 60_000));
  const short = await ask(port, "/short");
  await Promise.all([drainHttpServer(server, { requestsMs: 20_000, idleMs: 0 }), short.toArray()]);

  const long = await ask(await serve(() => 60_000), "/long");
  const begun = performance.now();
  const cut = expect(long.toArray()).rejects.toThrow("aborted");
  await drainHttpServer(server, { requestsMs: 300, idleMs: 0 });
  await cut;
  expect(performance.now() - begun).toBeLessThan(10_000);
});
