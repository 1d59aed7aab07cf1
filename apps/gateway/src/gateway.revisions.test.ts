import { beforeAll, expect, test } from "vitest";
import { connectModern } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();
/** One real server, made with the SDKs, that speaks all revisions at one address. */
let server: DeployedServer;
beforeAll(async () => {
  server = await rig.deploy(createMcpListener());
});

const clientInfo = { name: "by-hand", version: "1.0" };

/** Sends messages as a client of a legacy revision does, and returns the JSON-RPC answers of the stream or the body. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const texts = isStream
    ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data)
    : text === ""
      ? []
      : [text];
  return { response, answers: texts.map((data) => JSON.parse(data)) };
}

/** The handshake of a legacy revision; headers of the session that it has opened. */
async function initialize(protocolVersion: string) {
  const params = { protocolVersion, capabilities: {}, clientInfo };
  const { response, answers } = await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  expect(response.status).toBe(200);
  expect(answers).toEqual([expect.objectContaining({ id: 0, result: expect.objectContaining({ protocolVersion }) })]);
  const session = {
    "mcp-session-id": response.headers.get("mcp-session-id") ?? "",
    // Clients of 2025-03-26 don't know this header.
    ...(protocolVersion > "2025-03-26" ? { "mcp-protocol-version": protocolVersion } : {}),
  };
  const initialized = await post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  expect(initialized.response.status).toBe(202);
  return session;
}

const echo = (id: number, text: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "echo", arguments: { text } },
});
const echoed = (id: number, text: string) =>
  expect.objectContaining({ id, result: expect.objectContaining({ content: [{ type: "text", text }] }) });

/** How the calls of a revision were logged. */
async function rowsOf(protocolVersion: string) {
  const own = async () =>
    (await rig.rows(server.projectId, 1)).filter((row) => row.protocolVersion === protocolVersion);
  await until(async () => (await own()).some(({ method }) => method === "tools/call"));
  return own();
}

for (const protocolVersion of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
  test(`GW-2 ${protocolVersion}: handshake, session, calls, stream and end of session`, async () => {
    const session = await initialize(protocolVersion);
    expect((await post(echo(1, protocolVersion), session)).answers).toEqual([echoed(1, protocolVersion)]);
    const unknown = await post({ jsonrpc: "2.0", id: 2, method: "tools/none" }, session);
    expect(unknown.answers).toEqual([
      expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32601 }) }),
    ]);

    const listening = new AbortController();
    const headers = { ...session, accept: "text/event-stream" };
    const stream = await fetch(server.url, { headers, signal: listening.signal });
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    listening.abort();

    expect((await fetch(server.url, { method: "DELETE", headers: session })).status).toBe(200);
    const ended = await post(echo(3, "late"), session);
    expect([ended.response.status, ended.answers[0]?.error?.code]).toEqual([404, -32001]);

    const rows = await rowsOf(protocolVersion);
    expect(new Set(rows.map((row) => row.session)).size).toBe(1);
    expect(rows[0]?.session).not.toBeNull();
    expect(new Set(rows.map((row) => row.client))).toEqual(new Set(["by-hand 1.0"]));
  });
}

test("GW-2 2025-03-26: a batch reaches the server as one, and each of its calls is answered", async () => {
  const session = await initialize("2025-03-26");
  const { response, answers } = await post([echo(1, "first"), echo(2, "second")], session);
  expect(response.status).toBe(200);
  expect(answers.flat()).toHaveLength(2);
  expect(answers.flat()).toEqual(expect.arrayContaining([echoed(1, "first"), echoed(2, "second")]));
});

test("GW-2 2026-07-28: no handshake and no session; GET and DELETE are 405; errors keep their status and body", async () => {
  const client = await connectModern(server.url);
  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  expect((await client.callTool({ name: "echo", arguments: { text: "x" } })).content).toEqual([
    { type: "text", text: "x" },
  ]);
  await client.close();
  expect((await rowsOf("2026-07-28")).map((row) => row.session)).toEqual([null, null]);

  const version = { "mcp-protocol-version": "2026-07-28" };
  for (const method of ["GET", "DELETE"]) {
    const headers = { ...version, accept: "text/event-stream" };
    expect([method, (await fetch(server.url, { method, headers })).status]).toEqual([method, 405]);
  }
  const modern = (method: string, headerMethod = method) =>
    post(
      {
        jsonrpc: "2.0",
        id: 1,
        method,
        params: {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": clientInfo,
          },
        },
      },
      { ...version, "mcp-method": headerMethod },
    );
  const unknown = await modern("tools/none");
  expect([unknown.response.status, unknown.answers[0]?.error?.code]).toEqual([404, -32601]);
  // Headers and body must agree: the server checks that itself, and its 400 shows clients the era.
  const mismatch = await modern("tools/list", "tools/call");
  expect([mismatch.response.status, mismatch.answers[0]?.error?.code]).toEqual([400, -32020]);
});
