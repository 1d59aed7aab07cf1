import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createHttpServer } from "./server.ts";
import { emptyResult, rpc, sendRaw, statusOf, storeApiKey } from "./testing/clients.ts";
import { createRig, type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();
let server: DeployedServer;
/** Requests that reached the server. */
let reached: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
const serve = async (request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method = "", url = "", headers } = request;
  reached.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
  response.writeHead(200, { "content-type": "application/json" }).end(emptyResult);
};
beforeAll(async () => {
  server = await rig.deploy((request, response) => void serve(request, response));
});
beforeEach(() => {
  reached = [];
});

const hostLine = "Host: localhost\r\n";
const closing = "Connection: close\r\n";
const chunked = "Transfer-Encoding: chunked\r\n";
const send = (text: string) => sendRaw(rig.gateway.port, text);
const path = () => `/${server.label}/mcp`;
/** A POST with these header lines and body, plus `Host` and `Connection: close`. */
const posted = (lines: string, body: string, version = "1.1") =>
  send(`POST ${path()} HTTP/${version}\r\n${hostLine}${lines}${closing}\r\n${body}`);
const bodyOf = (answer: string) => answer.slice(answer.indexOf("\r\n\r\n") + 4);

/** Nothing has reached the server, and the next request is served. */
async function expectUnharmed(): Promise<void> {
  expect(reached).toEqual([]);
  expect((await fetch(server.url, { method: "POST", body: rpc() })).status).toBe(200);
  reached = [];
}

test("GW-9 framing that two parsers could read differently gets a 400 with a remedy, and reaches no server", async () => {
  const smuggled = `GET ${path()}?smuggled HTTP/1.1\r\n${hostLine}\r\n`;
  const attempts: Record<string, Promise<string>> = {
    "Content-Length beside Transfer-Encoding": posted(`Content-Length: 5\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    "Transfer-Encoding beside Content-Length": posted(`${chunked}Content-Length: 5\r\n`, `0\r\n\r\n${smuggled}`),
    "Transfer-Encoding twice": posted(`${chunked}Transfer-Encoding: identity\r\n`, "0\r\n\r\n"),
    "chunked twice": posted(chunked + chunked, "0\r\n\r\n"),
    "chunked is not the last coding": posted("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
    "a folded Transfer-Encoding": posted("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
    "a control character before chunked": posted("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n"),
    "a quoted chunked": posted('Transfer-Encoding: "chunked"\r\n', "0\r\n\r\n"),
    "a space before the colon": posted("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
    "Content-Length twice, the same": posted("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
    "Content-Length twice, different": posted("Content-Length: 5\r\nContent-Length: 0\r\n", smuggled),
    "a list of lengths": posted("Content-Length: 5, 5\r\n", "hello"),
    "a hexadecimal length": posted("Content-Length: 0x5\r\n", "hello"),
    "a negative length": posted("Content-Length: -5\r\n", "hello"),
    "a length with a sign": posted("Content-Length: +5\r\n", "hello"),
    "a length that overflows": posted("Content-Length: 18446744073709551621\r\n", "hello"),
    "an empty length": posted("Content-Length: \r\n", "hello"),
    "lines that end in LF": send(`GET ${path()} HTTP/1.1\nHost: localhost\n\n`),
    "one header that ends in LF": send(`GET ${path()} HTTP/1.1\r\n${hostLine}X: y\n${closing}\r\n`),
    "one header that ends in CR": send(`GET ${path()} HTTP/1.1\r\n${hostLine}X: y\rZ: z\r\n${closing}\r\n`),
    "a folded header": send(`GET ${path()} HTTP/1.1\r\n${hostLine}X: a\r\n b\r\n${closing}\r\n`),
    "a header without a colon": send(`GET ${path()} HTTP/1.1\r\n${hostLine}Nonsense\r\n${closing}\r\n`),
    "a space in a header's name": send(`GET ${path()} HTTP/1.1\r\n${hostLine}X Y: z\r\n${closing}\r\n`),
    "a space before the first header": send(`GET ${path()} HTTP/1.1\r\n ${hostLine}${closing}\r\n`),
    "NUL in a value": send(`GET ${path()} HTTP/1.1\r\n${hostLine}X: a\0b\r\n${closing}\r\n`),
    "NUL in the target": send(`GET ${path()}\0 HTTP/1.1\r\n${hostLine}${closing}\r\n`),
    "tabs in the request line": send(`GET\t${path()}\tHTTP/1.1\r\n${hostLine}${closing}\r\n`),
    "a method in lower case": send(`get ${path()} HTTP/1.1\r\n${hostLine}${closing}\r\n`),
    "the preface of HTTP/2": send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "a TLS handshake": send("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    "data after the last request": posted("Content-Length: 2\r\n", `hi${smuggled}`),
  };
  for (const [what, attempt] of Object.entries(attempts)) {
    const answer = await attempt;
    expect([what, statusOf(answer)]).toEqual([what, 400]);
    expect(answer).toContain("Connection: close");
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ error: { code: "malformed_request" } });
    expect(answer).toContain("Use a standard HTTP client");
    // The request before the smuggled one may have been served: that is its own.
    if (what === "data after the last request") reached = reached.filter(({ url }) => url.includes("smuggled"));
  }
  await expectUnharmed();
});

test("GW-9 tricks with chunks end the request; its beginning reaches no server", async () => {
  const attempts: Record<string, string> = {
    "a size in C's notation": "0x5\r\nhello\r\n0\r\n\r\n",
    "a negative size": "-5\r\nhello\r\n0\r\n\r\n",
    "a space after the size": "5 \r\nhello\r\n0\r\n\r\n",
    "a size that overflows": "10000000000000005\r\nhello\r\n0\r\n\r\n",
    "a size that ends in LF": "5\nhello\r\n0\r\n\r\n",
    "data longer than its size": "5\r\nhelloXX0\r\n\r\n",
    "data that ends in LF": "5\r\nhello\n0\r\n\r\n",
    "LF in an extension": "5;a\nb\r\nhello\r\n0\r\n\r\n",
    "a length in the trailer": "0\r\nContent-Length: 5\r\n\r\n",
  };
  for (const [what, body] of Object.entries(attempts)) {
    const answer = await posted(chunked, body);
    expect([what, [400, 0].includes(statusOf(answer))]).toEqual([what, true]);
  }
  expect(statusOf(await posted(chunked, `5;a=${"b".repeat(20_000)}\r\nhello\r\n0\r\n\r\n`))).toBe(413);
  await expectUnharmed();
  const trailer = await posted(chunked, "5\r\nhello\r\n0\r\nTowpath-Actor: forged\r\n\r\n");
  expect([statusOf(trailer), reached[0]?.body, JSON.stringify(reached)]).toEqual([
    200,
    "hello",
    expect.not.stringContaining("forged"),
  ]);
});

test("GW-9 unsupported codings, versions and methods are refused with a remedy", async () => {
  const cases: [Promise<string>, number, string][] = [
    [posted("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501, "use Content-Encoding"],
    [posted(chunked, "0\r\n\r\n", "1.0"), 501, "in HTTP/1.1"],
    [send(`GET ${path()} HTTP/2.0\r\n${hostLine}${closing}\r\n`), 505, "Use HTTP/1.1"],
    [send(`GET ${path()}\r\n\r\n`), 505, "HTTP/0.9 is not served"],
    [send(`TRACE ${path()} HTTP/1.1\r\n${hostLine}${closing}\r\n`), 405, "TRACE is not forwarded"],
    [send(`CONNECT ${server.label}.localhost:22 HTTP/1.1\r\n${hostLine}\r\n`), 405, "not a proxy"],
    [
      send(`GET http://localhost${path()} HTTP/1.1\r\n${hostLine}${closing}\r\n`),
      404,
      "Nothing is served at this path",
    ],
    [send(`GET http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n${closing}\r\n`), 404, "Nothing is served"],
    [send(`OPTIONS * HTTP/1.1\r\n${hostLine}${closing}\r\n`), 404, "Nothing is served at this path"],
  ];
  for (const [answered, status, text] of cases) {
    const answer = await answered;
    expect([text, statusOf(answer), answer.includes(text)]).toEqual([text, status, true]);
  }
  await expectUnharmed();
});

test("GW-9 headers that are too large or too many get 431 with the limits; none is dropped silently", async () => {
  const many = Array.from({ length: 250 }, (_, at) => `X-${at}: 1\r\n`).join("");
  for (const lines of [many, `X-Big: ${"a".repeat(40_000)}\r\n`, `${"X".repeat(40_000)}: a\r\n`]) {
    const answer = await posted(lines, "");
    expect(statusOf(answer)).toBe(431);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ error: { code: "headers_too_large" } });
    expect(answer).toContain("larger than 32 KiB, or there are more than 200 headers");
  }
  expect(statusOf(await send(`GET /${"x".repeat(40_000)} HTTP/1.1\r\n${hostLine}\r\n`))).toBe(431);
  await expectUnharmed();
  const fitting = Array.from({ length: 150 }, (_, at) => `X-${at}: 1\r\n`).join("");
  await posted(`${fitting}X-Last: here\r\nContent-Length: 0\r\n`, "");
  expect(reached[0]?.headers["x-last"]).toBe("here");
});

test("GW-9 doubled headers: two Hosts and two sets of credentials are refused, two session ids are no session", async () => {
  const closed = await rig.deploy((request, response) => void serve(request, response), { authMode: "towpath-cloud" });
  const { bearer } = await storeApiKey(rig, closed.organizationId);
  const to = (lines: string) => send(`GET /${closed.label}/mcp HTTP/1.1\r\n${hostLine}${lines}${closing}\r\n`);
  const key = `Authorization: ${bearer.authorization}\r\n`;
  expect(statusOf(await to(key))).toBe(200);
  reached = [];
  for (const lines of [`${key}Authorization: Bearer other\r\n`, key + key, `${key}aUTHORIZATION: Basic eDp5\r\n`]) {
    const answer = await to(lines);
    expect([statusOf(answer), answer.includes("two Authorization headers. Send one.")]).toEqual([401, true]);
    expect(answer).toMatch(/www-authenticate: Bearer error="invalid_request"/i);
  }
  expect(statusOf(await to(`${key}Host: localhost\r\n`))).toBe(404);
  expect(statusOf(await to(`${key}Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n`))).toBe(404);
  expect(reached).toEqual([]);
});

test("GW-9 GW-4 keys and tokens in the query are refused, also beside a valid header, and reach no server", async () => {
  const closed = await rig.deploy((request, response) => void serve(request, response), { authMode: "towpath-cloud" });
  const { bearer } = await storeApiKey(rig, closed.organizationId);
  const key = bearer.authorization.slice("Bearer ".length);
  for (const query of [`access_token=${key}`, "%61ccess_token=x", "ACCESS_TOKEN=x", `api_key=${key}`, `a=b&k=${key}`]) {
    for (const headers of [{}, bearer]) {
      const answer = await fetch(`${closed.url}?${query}`, { method: "POST", body: rpc(), headers });
      expect([query, answer.status]).toEqual([query, 401]);
      expect(await answer.text()).toContain("use the Authorization header");
    }
  }
  expect(reached).toEqual([]);
  expect((await fetch(`${closed.url}?page=2`, { method: "POST", body: rpc(), headers: bearer })).status).toBe(200);
});

test("GW-9 by host name, odd hosts on raw sockets get a 404 with what to check; port, case and final dot don't matter", async () => {
  const own = await createRig({ TOWPATH_SERVER_URL: "https://{name}.example.com" });
  onTestFinished(() => own.close());
  const { label } = await own.deploy((request, response) => void serve(request, response));
  const asked = (hosts: readonly string[]) => {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
    return sendRaw(own.gateway.port, `GET /mcp HTTP/1.1\r\n${lines}${closing}\r\n`);
  };
  const name = `${label}.example.com`;
  const odd = [
    [],
    [""],
    [name, name],
    [name, "other.example.com"],
    [`${name}, ${name}`],
    ["example.com"],
    [".example.com"],
    [`user@${name}`],
    [`user:pass@${name}`],
    [`${name}/mcp`],
    [`${name}:80:80`],
    [`${name}..`],
    [`a.${name}`],
    ["127.0.0.1"],
    ["[::1]"],
    ["0x7f.1"],
    [`%${label}.example.com`],
    [`${label}_.example.com`],
    [`-${name}`],
    [`${name}.evil.example`],
    ["evil-example.com"],
    [`${name}\x80`],
    [`${label} .example.com`],
    [`http://${name}`],
  ];
  for (const hosts of odd) {
    const answer = await asked(hosts);
    expect([hosts, statusOf(answer), reached.length]).toEqual([hosts, 404, 0]);
    expect(answer).toMatch(/No server has this host name. Check the address.|names two hosts/);
  }
  for (const host of [name, name.toUpperCase(), `${name}:443`, `${name}.`, `${name}.:8443`]) {
    expect([host, statusOf(await asked([host]))]).toEqual([host, 200]);
  }
});

test("GW-9 a WebSocket handshake is not an upgrade: the client gets a plain answer, and the connection stays HTTP", async () => {
  const key = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const socket = connect(rig.gateway.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString();
  });
  socket.write(`GET ${path()}?ws HTTP/1.1\r\n${hostLine}Connection: keep-alive, Upgrade\r\n${key}\r\n`);
  await until(() => answer.includes(emptyResult));
  socket.write(`GET ${path()}?next HTTP/1.1\r\n${hostLine}${closing}\r\n`);
  await until(() => socket.closed);
  expect(answer).not.toContain("101 Switching");
  expect(reached.map(({ url, headers }) => [url, headers.upgrade])).toEqual([
    ["/mcp?ws", undefined],
    ["/mcp?next", undefined],
  ]);
});

test("GW-9 HTTP/1.0, pipelined requests and expectations are served, each once and in order", async () => {
  const message = rpc();
  const old = await posted(`Content-Length: ${message.length}\r\n`, message, "1.0");
  expect([statusOf(old), bodyOf(old)]).toEqual([200, emptyResult]);
  const one = (query: string, more = "") =>
    `POST ${path()}?${query} HTTP/1.1\r\n${hostLine}${more}Content-Length: ${message.length}\r\n\r\n${message}`;
  reached = [];
  const answers = await send(one("1") + one("2") + one("3", closing));
  expect(answers.split(emptyResult)).toHaveLength(4);
  expect(reached.map(({ url }) => url)).toEqual(["/mcp?1", "/mcp?2", "/mcp?3"]);
  for (const expectation of ["100-continue", "nonsense"]) {
    const answer = await posted(`Expect: ${expectation}\r\nContent-Length: ${message.length}\r\n`, message);
    expect([expectation, answer.includes("HTTP/1.1 200 OK"), answer.includes("417")]).toEqual([
      expectation,
      true,
      false,
    ]);
  }
  expect(reached.every(({ headers }) => headers.expect === undefined)).toBe(true);
});

test("GW-9 a client that disconnects at any byte of a request reaches no server with a part of it", async () => {
  const message = rpc();
  const whole = `POST ${path()} HTTP/1.1\r\n${hostLine}Content-Length: ${message.length}\r\n\r\n${message}`;
  for (let length = 1; length < whole.length; length += 7) {
    const socket = connect(rig.gateway.port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.write(whole.slice(0, length));
    await sleep(2);
    if (length % 2 === 0) socket.resetAndDestroy();
    else socket.destroy();
  }
  await expectUnharmed();
  await until(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/metrics`)).text();
    return /^towpath_gateway_requests_open 0$/m.test(metrics);
  });
});

test("GW-9 slow headers and slow bodies end with 408 and a remedy, while others are served", async () => {
  const timeouts = { headers: 300, request: 600, idle: 300, check: 50 };
  const connections = { accept: () => {}, requestStarted: () => {} };
  const handled: string[] = [];
  const quick = createHttpServer(
    (request, response) => {
      request.on("error", () => {});
      request.resume().on("end", () => {
        handled.push(request.url ?? "");
        response.end("served");
      });
    },
    connections,
    timeouts,
  );
  await new Promise<void>((resolve) => quick.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void quick.closeAllConnections());
  onTestFinished(() => void quick.close());
  const address = quick.address();
  const port = typeof address === "object" && address ? address.port : 0;
  /** Sends a byte every 20 ms, until the other side closes. */
  const drip = (text: string) =>
    new Promise<string>((resolve) => {
      let received = "";
      let at = 0;
      const socket = connect(port, "127.0.0.1");
      const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ""), 20);
      socket.on("data", (chunk) => {
        received += chunk.toString();
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        clearInterval(timer);
        resolve(received);
      });
      if (text === "x") socket.write(`POST /slow-body HTTP/1.1\r\n${hostLine}Content-Length: 100000\r\n\r\n`);
    });
  const slow = [
    drip(`GET /slow-head HTTP/1.1\r\n${hostLine}X-Long: ${"a".repeat(5000)}`),
    drip("x"),
    drip(" ".repeat(9)),
  ];
  for (let at = 0; at < 5; at++) expect(await (await fetch(`http://127.0.0.1:${port}/quick`)).text()).toBe("served");
  const [head = "", body = ""] = await Promise.all(slow);
  for (const answer of [head, body]) {
    expect([statusOf(answer), answer.includes("took too long to arrive")]).toEqual([408, true]);
  }
  expect(new Set(handled)).toEqual(new Set(["/quick"]));
});
