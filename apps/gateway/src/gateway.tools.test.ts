import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { answerJson, connectLegacy, connectModern, emptyResult, postTo, sendRaw, statusOf } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { type DeployedServer, openRig, setAccess } from "./testing/rig.ts";

const rig = openRig();
/** A server that allows `echo` only, and what has reached it. */
let server: DeployedServer;
let reached: string[];
beforeAll(async () => {
  server = await rig.deploy(
    (request: IncomingMessage, response: ServerResponse) => {
      request.setEncoding("latin1");
      let body = "";
      request.on("data", (chunk: string) => {
        body += chunk;
      });
      request.on("end", () => {
        reached.push(body);
        answerJson(response, emptyResult);
      });
    },
    { access: { tools: ["echo"] } },
  );
});
beforeEach(() => {
  reached = [];
});

const message = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });
const call = (name: unknown, more = {}) => JSON.stringify(message("tools/call", { name, arguments: {}, ...more }));

async function answerTo(body: string | Buffer, headers: Record<string, string> = {}, path = "") {
  const url = new URL(path === "" ? server.url : `/${server.label}${path}`, server.url);
  const response = await postTo(url, body, headers);
  return { status: response.status, body: (await response.json()) as never as Answer };
}
type Answer = { id: unknown; error?: { code: number; message: string; data: { towpath: string } } };

const modern = (name: string, method = "tools/call") => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  "mcp-name": name,
});

test("GW-15 an allowed tool is called; another gets a JSON-RPC error with its id and the reason, in both eras", async () => {
  for (const headers of [modern, () => ({})]) {
    expect(await answerTo(call("echo"), headers("echo"))).toEqual({ status: 200, body: JSON.parse(emptyResult) });
    const { status, body } = await answerTo(call("drop"), headers("drop"));
    expect([status, body.id, body.error?.code, body.error?.data.towpath]).toEqual([200, 1, -32050, "tool_not_allowed"]);
    expect(body.error?.message).toMatch(/^The tool "drop" is not allowed on this server\./);
  }
  expect(reached).toEqual([call("echo"), call("echo")]);
});

test("GW-15 as a task, after input, as a notification, without a name: another tool is refused all the same", async () => {
  const bodies = [
    call("drop", { task: { ttl: 60_000 } }),
    call("drop", { inputResponses: { a: 1 }, requestState: "sealed" }),
    JSON.stringify({ jsonrpc: "2.0", method: "tools/call", params: { name: "drop" } }),
    call("Echo"),
    call("echo "),
    call(["echo"]),
    call(undefined),
    JSON.stringify(message("tools/call", null)),
  ];
  for (const body of bodies) {
    const answer = await answerTo(body);
    expect([body, answer.body.error?.data.towpath]).toEqual([body, "tool_not_allowed"]);
  }
  expect(reached).toEqual([]);
});

test("GW-15 a batch with one call of another tool is refused whole; each of its requests is answered", async () => {
  const batch = [
    message("tools/call", { name: "echo" }, 1),
    message("tools/call", { name: "drop" }, "two"),
    { jsonrpc: "2.0", method: "notifications/progress", params: {} },
  ];
  const { status, body } = await answerTo(JSON.stringify(batch));
  const codes = (body as never as Answer[]).map(({ id, error }) => [id, error?.data.towpath]);
  expect([status, codes]).toEqual([
    200,
    [
      [1, "tool_not_allowed"],
      ["two", "tool_not_allowed"],
    ],
  ]);
  expect((await answerTo(JSON.stringify(batch.filter((each) => !("id" in each) || each.id !== "two")))).status).toBe(
    200,
  );
  expect(reached).toHaveLength(1);
});

test("GW-15 a call larger than anything the log looks at does not slip through", async () => {
  const numbers = Array.from({ length: 300_000 }, () => 0);
  const hidden = JSON.stringify({ params: { arguments: numbers, name: "drop" }, id: 1, method: "tools/call" });
  expect((await answerTo(hidden)).body.error?.data.towpath).toBe("tool_not_allowed");
  const many = [
    message("ping", { numbers }, 0),
    ...Array.from({ length: 98 }, (_, id) => message("ping", {}, id)),
    message("tools/call", { name: "drop" }),
  ];
  expect((await answerTo(JSON.stringify(many))).status).toBe(200);
  expect((await answerTo(JSON.stringify([...many, message("ping", {}, 1)]))).status).toBe(413);
  expect(reached).toEqual([]);
  const allowed = JSON.stringify({ params: { arguments: numbers, name: "echo" }, id: 1, method: "tools/call" });
  await answerTo(allowed);
  expect(reached).toEqual([allowed]);
});

test("GW-15 a body that two parsers could read differently is refused with 403, and says why", async () => {
  const bodies: [string | Buffer, Record<string, string>?][] = [
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"drop"}}'],
    [Buffer.from(call("drop"), "utf16le")],
    [`\uFEFF${call("drop")}`],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop","arguments":{"x":NaN}}}'],
    [`[[${call("drop")}]]`],
    [gzipSync(call("drop")), { "content-encoding": "gzip" }],
    [call("echo"), { "content-encoding": "br" }],
  ];
  for (const [body, headers] of bodies) {
    const answer = await answerTo(body, headers);
    expect([answer.status, answer.body.error?.data.towpath]).toEqual([403, "call_unclear"]);
    expect(answer.body.error?.message).toContain("not plain UTF-8 JSON");
  }
  expect(reached).toEqual([]);
});

test("GW-15 headers and body must name the same call, whichever of them names the allowed one", async () => {
  const pairs: [string, Record<string, string>][] = [
    [call("echo"), modern("drop")],
    [call("echo"), modern("echo", "tools/list")],
    [JSON.stringify(message("ping", {})), modern("drop")],
    [`[${call("echo")}]`, modern("echo")],
    [call("echo"), modern(`=?base64?${Buffer.from("drop").toString("base64")}?=`)],
  ];
  for (const [body, headers] of pairs) {
    const answer = await answerTo(body, headers);
    expect([headers, answer.status, answer.body.error?.data.towpath]).toEqual([headers, 403, "call_unclear"]);
  }
  // Repeated: one parser may take the first and another the last.
  const body = call("echo");
  const raw = await sendRaw(
    rig.gateway.port,
    `POST /${server.label}/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Method: tools/call\r\n` +
      `Mcp-Name: echo\r\nMcp-Name: drop\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  expect(statusOf(raw)).toBe(403);
  expect(reached).toEqual([]);
  await answerTo(body, modern(`=?base64?${Buffer.from("echo").toString("base64")}?=`));
  expect(reached).toEqual([body]);
});

test("GW-15 another path of the server doesn't bypass it, and its forms and uploads keep working", async () => {
  const refused = await answerTo(call("drop"), {}, "/messages/?session_id=1");
  expect([refused.status, refused.body.id, refused.body.error?.data.towpath]).toEqual([200, 1, "tool_not_allowed"]);
  const unclear = await answerTo(Buffer.from(call("drop"), "utf16le"), {}, "/elsewhere");
  expect([unclear.status, unclear.body.error?.data.towpath]).toEqual([403, "call_unclear"]);
  // Nor is another type, which a server may not look at.
  const twice = call("echo").replace('"name":"echo"', '"name":"echo","name":"drop"');
  expect(twice).toContain("drop");
  for (const body of [twice, ` ${twice}`, `\ufeff${call("drop")}`, Buffer.from(call("drop"), "utf16le")]) {
    const { status } = await answerTo(body, { "content-type": "text/plain" }, "/elsewhere");
    expect(status).toBe(403);
  }
  await answerTo(call("echo"), {}, "/elsewhere");
  await answerTo("grant_type=code&code=1", { "content-type": "application/x-www-form-urlencoded" }, "/token");
  expect(reached).toEqual([call("echo"), "grant_type=code&code=1"]);
  const rows = await rig.rows(server.projectId, 1);
  expect(
    rows.filter((row) => row.target === "drop" && row.errorMessage?.includes("not allowed")).length,
  ).toBeGreaterThan(0);
});

test("GW-15 GW-7 a refused call is a row with its tool and the reason", async () => {
  const own = await rig.deploy((_request, response) => response.destroy(), { access: { tools: [] } });
  await (await postTo(own.url, call("drop"))).text();
  const [row] = await rig.rows(own.projectId, 1);
  expect(row).toMatchObject({ method: "tools/call", target: "drop", isRefused: true, outcome: "gateway_error" });
  expect(row?.errorMessage).toContain('The tool "drop" is not allowed');
});

test("GW-15 lists show the allowed tools only, page by page, in JSON and event streams, never compressed", async () => {
  const pages: Record<string, string> = {
    first:
      '{"tools":[{"name":"drop"},{"name":"echo","inputSchema":{"maximum":9223372036854775807}}],"nextCursor":"second"}',
    second: '{"tools":[{"name":"purge"}],"nextCursor":"third"}',
    third: '{"tools":[]}',
  };
  let encodings: (string | undefined)[] = [];
  const listing = await rig.deploy(
    async (request, response) => {
      encodings.push(request.headers["accept-encoding"] as string | undefined);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id, params } = JSON.parse(Buffer.concat(chunks).toString());
      const answer = `{"jsonrpc":"2.0","id":${id},"result":${pages[params.cursor ?? "first"]}}`;
      if (request.headers.accept?.includes("event-stream")) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`: hello\n\nevent: message\ndata: ${answer}\n\n`);
      } else {
        response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
      }
    },
    { access: { tools: ["echo"] } },
  );
  const page = async (cursor: string | undefined, accept: string) => {
    const response = await postTo(listing.url, JSON.stringify(message("tools/list", { cursor })), { accept });
    return (await response.text())
      .replace("event: message\n", "")
      .replace(": hello\n\n", "")
      .replace("data: ", "")
      .trim();
  };
  for (const accept of ["application/json", "text/event-stream"]) {
    expect(await page(undefined, accept)).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","inputSchema":{"maximum":9223372036854775807}}],"nextCursor":"second"}}',
    );
    expect(await page("second", accept)).toBe('{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"third"}}');
    expect(await page("third", accept)).toBe('{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}');
  }
  expect(new Set(encodings)).toEqual(new Set(["identity"]));
  encodings = [];
  await setAccess(rig.database, listing.projectId, {});
  await expect.poll(() => page("second", "application/json")).toContain("purge");
  expect(encodings.at(-1)).not.toBe("identity");
});

test("GW-15 a list that can't be filtered is withheld with 502 and the reason, which is in the log", async () => {
  const bad = await rig.deploy(
    (request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync('{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"drop"}]}}'));
    },
    { access: { tools: ["echo"] } },
  );
  const response = await postTo(bad.url, JSON.stringify(message("tools/list", {})));
  expect([response.status, ((await response.json()) as Answer).error?.data.towpath]).toEqual([502, "list_withheld"]);
  const [row] = await rig.rows(bad.projectId, 1);
  expect(row?.errorMessage).toContain("could not filter");
});

test("GW-15 the TypeScript SDKs 1 and 2 list the allowed tools, get the reason for others, and continue", async () => {
  const real = await rig.deploy(createMcpListener(), { access: { tools: ["echo"] } });
  const asJson = await rig.deploy(createMcpListener({ json: true }), { access: { tools: ["echo"] } });
  for (const { url } of [real, asJson]) {
    const second = await connectModern(url);
    const { client: first } = await connectLegacy(url);
    for (const client of [second, first] as const) {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
      const refused = client.callTool({ name: "fail", arguments: { text: "x" } });
      await expect(refused).rejects.toMatchObject({ code: -32050, message: expect.stringContaining("not allowed") });
      const echoed = await client.callTool({ name: "echo", arguments: { text: "still here" } });
      expect(echoed.content).toEqual([expect.objectContaining({ text: "still here" })]);
      await client.close();
    }
  }
});
