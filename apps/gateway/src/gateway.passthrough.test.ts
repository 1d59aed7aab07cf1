import { createHash } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { request as undiciRequest } from "undici";
import { beforeAll, expect, test } from "vitest";
import { answerJson, emptyResult, postTo, rpc, type Sent, sendRaw, statusOf } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();
/** A server that hands each request to what the test has put here. */
let server: DeployedServer;
let serve: (request: IncomingMessage, response: ServerResponse) => void;
beforeAll(async () => {
  server = await rig.deploy((request, response) => serve(request, response));
});

const post = (...sent: Sent) => postTo(server.url, ...sent);

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("GW-2 bytes and headers arrive as they were sent, none doubled, hop-by-hop ones left out", async () => {
  let raw: string[] = [];
  let url = "";
  // The one header that does not arrive as it was sent: the client's session id is ours, the server gets its own.
  serve = (request, response) => {
    request.resume();
    response.writeHead(200, { "MCP-Session-Id": "s1" }).end();
  };
  const sessionId = (await post(rpc("initialize"))).headers.get("mcp-session-id") ?? "";
  expect(sessionId.length).toBeGreaterThan(100);
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
    `MCP-SESSION-ID: ${sessionId}`,
    "Mcp-Name: =?base64?w6k=?=",
    "Mcp-Param-X: a",
    "Mcp-Param-X: b",
    "Accept: application/json,text/event-stream",
    "Last-Event-ID: 5",
    "X-Forwarded-For: 6.6.6.6",
    "X_Forwarded_Host: evil.example",
    "Forwarded: for=6.6.6.6",
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
  expect(lines.filter((line) => !/^(connection|content-length)/i.test(line))).toEqual([
    ...head
      .slice(1)
      .filter((line) => !/^(Connection|X-Hop|TE|Content-Length|X.Forwarded|Forwarded)/.test(line))
      .map((line) => line.replace(sessionId, "s1")),
    "x-forwarded-for: 127.0.0.1",
    "x-forwarded-proto: http",
    "x-forwarded-host: localhost:8080",
    expect.stringMatching(/^towpath-request-id: [0-9a-f-]{36}$/),
  ]);
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
  expect(answer.headers.getSetCookie()).toEqual([`~${own.label}~theirs=1; Path=/${own.label}`]);
});

test("GW-4 on a shared host a server's sign-in pages are sandboxed and work, with no cookie but its own", async () => {
  const cookies: unknown[] = [];
  const signIn: RequestListener = (request, response) => {
    cookies.push(request.headers.cookie);
    request.resume();
    response.writeHead(200, { "content-type": "text/html", "clear-site-data": '"*"', "set-cookie": "s=1; Path=/" });
    response.end("<form method=post>");
  };
  const own = await rig.deploy(signIn, { authMode: "passthrough" });
  const open = await rig.deploy(signIn);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const navigation = { ...form, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", origin: "null" };
  const at = (label: string, headers: Record<string, string>, path = "login", body = "user=me&to=a%2Bb+c") =>
    undiciRequest(`http://127.0.0.1:${rig.gateway.port}/${label}/${path}`, { method: "POST", headers, body });

  const page = await at(own.label, { cookie: "session=neighbour; ~other~s=2; towpath.session_token=a" });
  expect(page.headers["content-security-policy"]).toMatch(/^sandbox allow-forms allow-scripts/);
  expect(page.headers["content-security-policy"]).not.toContain("same-origin");
  expect(page.headers["clear-site-data"]).toBeUndefined();
  const cookie = String(page.headers["set-cookie"]).split(";")[0] ?? "";
  // A form of the sandboxed page: its origin is opaque, so the person is asked; what they send on is passed.
  const question = await at(own.label, { ...navigation, cookie });
  const text = await question.body.text();
  expect([question.statusCode, text]).toEqual([200, expect.stringContaining(`Continue to ${own.label}?`)]);
  expect(text).toContain('name="to" value="a+b c"');
  expect(question.headers["content-security-policy"]).toMatch(/^default-src 'none'.*frame-ancestors 'none'$/);
  expect(cookies).toHaveLength(1);
  const origin = "http://localhost:8080";
  expect((await at(own.label, { ...navigation, origin, cookie })).statusCode).toBe(200);
  expect(cookies).toEqual([undefined, "s=1"]);
  // Forms that cannot be sent again unchanged.
  for (const [type, body] of [
    ["multipart/form-data; boundary=x", "--x--"],
    ["text/plain", "user=me"],
    [form["content-type"], "user=%zz"],
    [form["content-type"], "user=m\u00e9"],
  ] as const) {
    const refused = await at(own.label, { ...navigation, "content-type": type }, "login", body);
    expect([type, refused.statusCode, await refused.body.text()]).toEqual([
      type,
      403,
      expect.stringMatching(/host name/),
    ]);
  }
  // A form of an identity provider, with its own origin.
  expect((await at(own.label, { ...navigation, origin: "https://login.example" })).statusCode).toBe(200);
  expect(cookies).toEqual([undefined, "s=1", undefined]);

  expect((await at(own.label, { ...navigation, cookie }, "mcp")).statusCode).toBe(403);
  expect((await at(own.label, { ...navigation, "sec-fetch-dest": "iframe" })).statusCode).toBe(403);
  expect((await at(open.label, navigation)).statusCode).toBe(403);
  expect((await at(own.label, { ...form, origin: "https://login.example" })).statusCode).toBe(403);
  expect(cookies).toHaveLength(3);
});

test("GW-9 a body of 4 MiB passes unchanged, one byte more is 413, announced or not", async () => {
  let digest = "";
  serve = async (request, response) => {
    digest = createHash("sha256")
      .update(await bodyOf(request))
      .digest("hex");
    answerJson(response, emptyResult);
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
    answerJson(response, "{}");
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
