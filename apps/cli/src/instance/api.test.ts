import { rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { isThorough } from "../../../../tests/thorough.ts";
import { noteRunning } from "../testing/stand-in.ts";
import { apiOf as apiWithLimits, openApi } from "./api.ts";
import { networkCause } from "./failure-texts.ts";

let directory = "";
beforeEach(async () => {
  directory = await shortDirectory();
  // It prints that it waits.
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

function listen(handler: RequestListener, port = 0): Promise<Server> {
  const server = createServer(handler);
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;

function end(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}

async function apiOf(port: number) {
  const url = `http://127.0.0.1:${port}`;
  await noteRunning(directory, url);
  return openApi(directory);
}

const line = (id: number) => `id: ${id}\nevent: line\ndata: ${id}\n\n`;

test("OPS-4 a stream that drops is taken up where it was, also across a restart, and no line comes twice", async () => {
  const asked: (string | undefined)[] = [];
  const dropping: RequestListener = (request, response) => {
    asked.push(request.headers["last-event-id"]?.toString());
    response.writeHead(200, { "content-type": "text/event-stream" });
    // The third event is cut off in the middle.
    response.write(`retry: 2000\n\n${line(1)}${line(2)}${line(3).slice(0, -1)}`);
    setTimeout(() => response.destroy(), 20);
  };
  const first = await listen(dropping);
  const port = portOf(first);
  const api = await apiOf(port);
  const seen: string[] = [];
  for await (const { data } of api.events("/log")) {
    seen.push(data);
    if (data !== "2") continue;
    // As long as the instance restarts nothing listens; then it is busy for a moment.
    await end(first);
    let busy = 1;
    setTimeout(async () => {
      const second = await listen((request, response) => {
        asked.push(request.headers["last-event-id"]?.toString());
        if (busy-- > 0) return void response.writeHead(503).end("starting");
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`${line(3)}event: end\ndata: {}\n\n`);
        setTimeout(() => void end(second), 100);
      }, port);
    }, 700);
  }
  expect(seen).toEqual(["1", "2", "3"]);
  expect(asked).toEqual([undefined, "2", "2"]);
});

test("OPS-4 a stream that the instance refuses is not retried", async () => {
  let requests = 0;
  const server = await listen((_, response) => {
    requests++;
    response.writeHead(404).end(JSON.stringify({ error: { code: "not_found", message: "There is no such build." } }));
  });
  const api = await apiOf(portOf(server));
  await expect(api.events("/log").next()).rejects.toThrow("There is no such build.");
  expect(requests).toBe(1);
  await end(server);
});

const problem = (code: string, message: string) => `event: problem\ndata: ${JSON.stringify({ code, message })}\n\n`;

test.runIf(isThorough)(
  "OPS-4 a stream that ends with a refusal says it; one that fails again and again is given up",
  {
    timeout: 30_000,
  },
  async () => {
    let requests = 0;
    const server = await listen(({ url }, response) => {
      requests++;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const end = url === "/gone" ? problem("not_found", "There is no such build.") : problem("internal", "It broke.");
      // A reconnected stream begins with the build's status, which has no id.
      response.end(`event: status\ndata: {"status":"building"}\n\n${end}`);
    });
    const api = await apiOf(portOf(server));
    const readAll = async (path: string) => {
      for await (const { event } of api.events(path)) expect(event).toBe("status");
    };
    await expect(readAll("/gone")).rejects.toThrow("There is no such build.");
    expect(requests).toBe(1);
    await expect(readAll("/broken")).rejects.toThrow("It broke.");
    expect(requests).toBe(11);
    await end(server);
  },
);

test("OPS-4 a server that doesn't exist is named, with the one that was probably meant", async () => {
  const server = await listen((request, response) => {
    if (request.url === "/api/v1/projects") return void response.end('{"data": [{"name": "My-Weather"}]}');
    response.writeHead(404).end('{"error": {"code": "not_found", "message": "Not Found: there is no such build."}}');
  });
  const api = await apiOf(portOf(server));
  const ask = (path: string) => api.call("GET", `/api/v1/projects/${path}`, z.unknown());
  await expect(ask("My-Wether/status")).rejects.toThrow(
    /^No server named My-Wether\. Did you mean My-Weather\? `towpath list` shows yours\.$/,
  );
  await expect(ask("other")).rejects.toThrow(/^No server named other\. `towpath list` shows yours\.$/);
  // The server exists, but not its build.
  await expect(ask("my-weather/builds/1")).rejects.toThrow("there is no such build");
  await end(server);
});

test("OPS-4 an address that is no instance, doesn't answer or isn't trusted gets a readable error, without a stack", async () => {
  const answers: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
    "/page": [200, "text/html", "<html>Welcome to nginx!</html>"],
    "/proxy": [502, "text/html", "<html><h1>502 Bad Gateway</h1></html>"],
    "/text": [404, "text/plain", "404 page not found\n"],
    "/other": [200, "application/json", '{"live": {"since": 3}}'],
    "/broken": [400, "application/json", '{"error": '],
  };
  const server = await listen(({ url = "" }, response) => {
    const [status, type, body] = answers[url] ?? [500, "text/plain", ""];
    response.writeHead(status, { "content-type": type }).end(body);
  });
  const port = portOf(server);
  const api = await apiOf(port);
  const schema = z.object({ live: z.object({ since: z.string() }) });
  const ask = (path: string) => api.call("GET", path, schema).catch((error: Error) => error.message);
  const there = `http://127.0.0.1:${port} answered`;
  expect(await Promise.all(Object.keys(answers).map(ask))).toEqual([
    `${there} with HTTP 200. Is a Towpath instance there?`,
    `${there} with HTTP 502. Is a Towpath instance there?`,
    `${there} with HTTP 404: 404 page not found. Is a Towpath instance there?`,
    expect.stringMatching(/^This terminal can't read what .* \(live\.since: .*\)\. Have both the same version\?$/),
    `${there} with HTTP 400. Is a Towpath instance there?`,
  ]);
  await end(server);
  // The open connection ends, a new one is refused.
  expect(await ask("/page")).toMatch(
    /does not answer: (the connection broke off|nothing listens there)\. Is \.\/towpath up still running\?$/,
  );
  const causeOf = (code: string) =>
    networkCause(new TypeError("fetch failed", { cause: Object.assign(new Error("why"), { code }) }));
  expect(["ECONNREFUSED", "ENOTFOUND", "DEPTH_ZERO_SELF_SIGNED_CERT", "ELSE"].map(causeOf)).toEqual([
    "nothing listens there",
    "there is no host of this name",
    expect.stringContaining("not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT)"),
    "why",
  ]);
});

test.runIf(isThorough)(
  "OPS-4 an instance that accepts the connection and never answers is reported; a stream lasts while anything arrives",
  {
    timeout: 30_000,
  },
  async () => {
    const asked: (string | undefined)[] = [];
    const server = await listen((request, response) => {
      if (request.url === "/half") return void response.writeHead(200).write('{"a":');
      if (request.url !== "/log") return;
      asked.push(request.headers["last-event-id"]?.toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      // The first stream falls silent, the second has only heartbeats for longer than the limit.
      if (asked.length === 1) return void response.write(line(1));
      let beats = 0;
      const beating = setInterval(() => {
        beats += 1;
        if (beats < 20) return void response.write(": heartbeat\n\n");
        clearInterval(beating);
        response.end(`${line(2)}event: end\ndata: {}\n\n`);
      }, 100);
    });
    const url = `http://127.0.0.1:${portOf(server)}`;
    const limits = { readMs: 100, changeMs: 200, silenceMs: 400 };
    const api = apiWithLimits({ url, token: "tpo_x", isLocal: true }, limits);
    const ask = (method: "GET" | "POST", path: string) =>
      api.call(method, path, z.unknown()).catch((error: Error) => error.message);
    const silent = (seconds: number) =>
      `The instance at ${url} took the connection, but no answer came within ${seconds} seconds.`;
    for (const path of ["/never", "/half"]) {
      expect(await ask("GET", path)).toBe(`${silent(0)} The output of ./towpath up may say why; or try again.`);
    }
    expect(await ask("POST", "/never")).toContain("It may do what was asked all the same: see towpath status NAME.");
    const seen: string[] = [];
    for await (const { data } of api.events("/log")) seen.push(data);
    expect([seen, asked]).toEqual([
      ["1", "2"],
      [undefined, "1"],
    ]);
    await end(server);
  },
);
