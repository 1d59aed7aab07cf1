import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendRaw, statusOf } from "./testing/raw.ts";
import { createRig, type DeployedServer, type Rig, until } from "./testing/rig.ts";

let rig: Rig;
/** A server that hands each request to what the test has put here. */
let server: DeployedServer;
let serve: (request: IncomingMessage, response: ServerResponse) => void;
beforeAll(async () => {
  rig = await createRig();
  server = await rig.deploy((request, response) => serve(request, response));
});
afterAll(() => rig.close());

const rpc = (method = "tools/call") => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { name: "t" } });
const post = (body: string | Buffer = rpc(), headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    ...(signal ? { signal } : {}),
  });
const json = (response: ServerResponse, body: string) =>
  response.writeHead(200, { "content-type": "application/json" }).end(body);

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("streams", () => {
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

  test("GW-3 a client that leaves before the answer ends the server's request at once", async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sent).toBeLessThan(total / 2);
    let received = 0;
    for await (const chunk of response) received += chunk.length;
    expect(received).toBe(total);
  });
});

describe("what passes", () => {
  test("GW-2 bytes and headers arrive as they were sent, none doubled, hop-by-hop ones left out", async () => {
    let raw: string[] = [];
    let url = "";
    serve = (request, response) => {
      raw = request.rawHeaders;
      url = request.url ?? "";
      request.resume();
      response.writeHead(400, [
        "Content-Type",
        "application/json",
        "X-Odd",
        "one",
        "X-Odd",
        "two",
        "MCP-Protocol-Version",
        "2025-06-18",
        "Keep-Alive",
        "timeout=9",
      ]);
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"version"}}');
    };
    const body = rpc();
    const head = [
      `POST /${server.label}/mcp?x=%2f HTTP/1.1`,
      "host: localhost:1234",
      "mcp-protocol-version: 2025-06-18",
      "MCP-SESSION-ID: s1",
      "Mcp-Name: =?base64?w6k=?=",
      "Mcp-Param-X: a",
      "Mcp-Param-X: b",
      "Accept: application/json,text/event-stream",
      "Last-Event-ID: 5",
      "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "Connection: close, X-Hop",
      "X-Hop: 1",
      "TE: trailers",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    const answer = await sendRaw(rig.gateway.port, `${head.join("\r\n")}\r\n\r\n${body}`);
    expect(url).toBe("/mcp?x=%2f");
    const lines: string[] = [];
    for (let at = 0; at < raw.length; at += 2) lines.push(`${raw[at]}: ${raw[at + 1]}`);
    expect(lines.filter((line) => !/^(connection|content-length)/i.test(line))).toEqual(
      head.slice(1).filter((line) => !/^(Connection|X-Hop|TE|Content-Length)/.test(line)),
    );
    expect(lines.filter((line) => /^content-length/i.test(line))).toHaveLength(1);
    // A 400 of the server's is the server's: clients read the era from its body.
    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain("X-Odd: one\r\nX-Odd: two\r\nMCP-Protocol-Version: 2025-06-18\r\n");
    expect(answer).toContain('"code":-32022');
    expect(answer).not.toContain("timeout=9");
    await until(async () => (await rig.rows(server.projectId, 1))[0]?.errorCode === -32022);
    expect((await rig.rows(server.projectId, 1))[0]).toMatchObject({
      outcome: "rpc_error",
      httpStatus: 400,
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    });
  });

  test("GW-1 /mcp/ is /mcp; other paths of an open server pass; its sign-in documents do not", async () => {
    const seen: string[] = [];
    serve = (request, response) => {
      seen.push(request.url ?? "");
      request.resume();
      response.end("ok");
    };
    const base = `http://127.0.0.1:${rig.gateway.port}`;
    for (const path of ["/mcp/", "/mcp", "/mcp/?a=1", "/other?b=2", ""]) await fetch(`${base}/${server.label}${path}`);
    await fetch(`${base}/${server.label.toUpperCase()}/mcp`);
    expect(seen).toEqual(["/mcp", "/mcp", "/mcp?a=1", "/other?b=2", "/", "/mcp"]);
    expect((await fetch(`${base}/.well-known/oauth-protected-resource/${server.label}/mcp`)).status).toBe(404);
    expect(seen).toHaveLength(6);
  });

  test("GW-4 a passthrough server owns its sign-in: well-known documents, cookies, WWW-Authenticate", async () => {
    const own = await rig.deploy(
      (request, response) => {
        request.resume();
        response.writeHead(401, {
          "www-authenticate": "Bearer own",
          "set-cookie": ["theirs=1", "towpath.session_token=evil", "__Secure-towpath.x=evil"],
        });
        response.end(request.url);
      },
      { authMode: "passthrough" },
    );
    const answer = await fetch(
      `http://127.0.0.1:${rig.gateway.port}/.well-known/oauth-protected-resource/${own.label}/mcp`,
    );
    expect(await answer.text()).toBe(`/.well-known/oauth-protected-resource/${own.label}/mcp`);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer own"]);
    expect(answer.headers.getSetCookie()).toEqual(["theirs=1"]);
  });

  test("GW-9 a body of 4 MiB passes unchanged, one byte more is 413, announced or not", async () => {
    let digest = "";
    serve = async (request, response) => {
      digest = createHash("sha256")
        .update(await bodyOf(request))
        .digest("hex");
      json(response, '{"jsonrpc":"2.0","id":1,"result":{}}');
    };
    const limit = 4 * 1024 * 1024;
    const frame = (size: number) =>
      Buffer.from(`{"id":1,"method":"tools/call","params":{"name":"t","x":"${"y".repeat(size - 59)}"}}`);
    const whole = frame(limit);
    expect(whole.length).toBe(limit);
    expect((await post(whole)).status).toBe(200);
    expect(digest).toBe(createHash("sha256").update(whole).digest("hex"));
    const tooLong = await post(frame(limit + 1));
    expect(tooLong.status).toBe(413);
    expect(await tooLong.json()).toMatchObject({ error: { data: { towpath: "body_too_large" } } });
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(frame(limit + 1));
        controller.enqueue(Buffer.alloc(5_000_000));
        controller.close();
      },
    });
    const chunked = await fetch(server.url, { method: "POST", body: stream, duplex: "half" } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  test("GW-2 browsers may call: preflight answered, answers readable, and a server's own CORS is left alone", async () => {
    const origin = "http://localhost:6274";
    const preflight = await fetch(server.url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "mcp-protocol-version,x-a",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("mcp-protocol-version,x-a");
    serve = (request, response) => {
      request.resume();
      json(response, "{}");
    };
    const answer = await post(rpc(), { origin });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("access-control-expose-headers")).toContain("mcp-session-id");
    serve = (request, response) => {
      request.resume();
      response.writeHead(200, { "access-control-allow-origin": "*" }).end();
    };
    expect((await post(rpc(), { origin })).headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("what does not pass", () => {
  const refused = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.end("reached the server");
  };

  test("GW-9 requests that two parsers could read differently never get in", async () => {
    serve = refused;
    const path = `/${server.label}/mcp`;
    const attempts = [
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nhello`,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-A: b\rc\r\n\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Big: ${"a".repeat(40_000)}\r\n\r\n`,
      "nonsense\r\n\r\n",
    ];
    for (const attempt of attempts) {
      const answer = await sendRaw(rig.gateway.port, attempt);
      expect(answer).not.toContain("reached the server");
      expect([400, 431]).toContain(statusOf(answer));
    }
    expect((await fetch(`http://127.0.0.1:${rig.gateway.port}/-/healthz`)).status).toBe(200);
  });

  test("GW-9 odd, foreign, doubled and missing hosts get a clear 404", async () => {
    serve = refused;
    const path = `/${server.label}/mcp`;
    for (const hosts of [
      ["evil.example"],
      ["localhost.evil.example"],
      ["localhost", "localhost"],
      [],
      [""],
      ["[::2]"],
      ["a b"],
    ]) {
      const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
      const answer = await sendRaw(rig.gateway.port, `GET ${path} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
      expect([statusOf(answer), answer.includes("unknown_host")]).toEqual([404, true]);
    }
    for (const host of ["localhost", "LOCALHOST:9", "127.0.0.1:8080", "[::1]:1", "localhost."]) {
      const answer = await sendRaw(
        rig.gateway.port,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toContain("reached the server");
    }
  });

  test("GW-9 encoded and plain traversal, and targets that are no path, reach no server", async () => {
    serve = refused;
    const { label } = server;
    const targets = [
      `/${label}/../${label}/mcp`,
      `/x/../${label}/mcp`,
      `/${label}/%2e%2e/other/mcp`,
      `/${label}/..%2fother/mcp`,
      `/${label}/.%2E/mcp`,
      `/${label}/a/..\\mcp`,
      `/${label}%2fmcp`,
      `/%2e%2e/${label}/mcp`,
      `//${label}/mcp`,
      `http://localhost/${label}/mcp`,
      "*",
      `/.well-known/${label}`,
      "/no-such-server/mcp",
    ];
    for (const target of targets) {
      const answer = await sendRaw(
        rig.gateway.port,
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      expect([target, statusOf(answer)]).toEqual([target, 404]);
      expect(answer).not.toContain("reached the server");
    }
  });

  test("GW-1 an unknown server's 404 cannot be taken for a lost session or an unknown method", async () => {
    const answer = await fetch(`http://127.0.0.1:${rig.gateway.port}/not-there/mcp`, { method: "POST", body: rpc() });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      jsonrpc: "2.0",
      error: { code: -32050, data: { towpath: "unknown_server" } },
    });
  });

  test("GW-9 web pages of other sites may not call a gateway on their visitor's own machine", async () => {
    serve = refused;
    for (const origin of ["https://evil.example", "null", "http://localhost.evil.example", "https://", "localhost"]) {
      const answer = await post(rpc(), { origin });
      expect([origin, answer.status]).toEqual([origin, 403]);
    }
    for (const origin of ["http://localhost:3000", "http://127.0.0.1:6274", "vscode-webview://abc"]) {
      expect([origin, (await post(rpc(), { origin })).status]).toEqual([origin, 200]);
    }
  });

  test("GW-9 an upgrade is not passed on, and the request is served as a plain one", async () => {
    let upgrade: string | undefined;
    serve = (request, response) => {
      upgrade = request.headers.upgrade;
      response.end("plain");
    };
    const answer = await sendRaw(
      rig.gateway.port,
      `GET /${server.label}/mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect([statusOf(answer), upgrade]).toEqual([200, undefined]);
  });
});

test("OPS-2 the gateway's own pages: text, health, metrics for this machine", async () => {
  const base = `http://127.0.0.1:${rig.gateway.port}`;
  expect(await (await fetch(`${base}/`)).text()).toContain("Towpath gateway");
  expect(await (await fetch(`${base}/-/healthz`)).json()).toMatchObject({ ok: true, database: true });
  expect(await (await fetch(`${base}/-/metrics`)).text()).toMatch(/towpath_gateway_requests_total \d+/);
  expect((await fetch(`${base}/-/metrics`, { headers: { "x-forwarded-for": "1.2.3.4" } })).status).toBe(404);
  expect((await fetch(`${base}/-/other`)).status).toBe(404);
});
