import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Talker, talker } from "@towpath/mcp/testing";
import { afterEach, expect, test } from "vitest";
import type { CallResult, ServerCall } from "../server-call.ts";
import { refusalHeader } from "./relay.schema.ts";
import { type CallHandlers, ServerConnection } from "./server-connection.ts";

const eras = ["modern", "legacy"] as const;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function connect(url: string): ServerConnection {
  const connection = new ServerConnection({ url: new URL(url), authorization: () => null });
  ends.push(() => connection.close());
  return connection;
}

async function connectTo(era: (typeof eras)[number]): Promise<{ server: Talker; connection: ServerConnection }> {
  const server = await talker(era);
  ends.push(() => server.close());
  return { server, connection: connect(server.url) };
}

const quiet: CallHandlers = {
  onProgress: () => {},
  onLog: () => {},
  onRequest: () => {},
  onElicit: async () => ({ action: "cancel", content: null }),
  onSample: async () => null,
};
const never = new AbortController().signal;
const work: ServerCall = { kind: "tool", name: "work", arguments: { steps: 1 } };
const textOf = (result: CallResult) => JSON.stringify(result.ok ? result.result : result);
const openings = ({ requests }: Talker) =>
  requests.filter(({ method, http }) => method === "server/discover" || http === "DELETE");

test.each(eras)("PRJ-4 %s: one connection serves all calls of a page", async (era) => {
  const { server, connection } = await connectTo(era);
  const first = await connection.perform(work, quiet, never);
  expect(first.ok && first.connectMs > 0).toBe(true);
  const opened = server.requests.length;
  const second = await connection.perform(work, quiet, never);
  expect(second).toMatchObject({ ok: true, connectMs: 0 });
  // The standing stream of a legacy session may begin late.
  expect(server.requests.slice(opened).filter(({ http }) => http === "POST")).toHaveLength(1);
  expect(connection.state()).toMatchObject({
    status: "open",
    protocolVersion: era === "modern" ? "2026-07-28" : "2025-11-25",
  });
});

test("PRJ-4 a session that a new version of the server doesn't know is reopened, and the call made once", async () => {
  const { server, connection } = await connectTo("legacy");
  await connection.perform(work, quiet, never);
  server.forgetSessions();
  expect(await connection.perform(work, quiet, never)).toMatchObject({ ok: true, connectMs: expect.any(Number) });
  const calls = connection
    .state()
    .messages.filter(({ message }) => (message as { method?: string }).method === "tools/call");
  expect(calls).toHaveLength(3);
  expect(connection.state().status).toBe("open");
});

test("PRJ-4 closing ends the session, and the next call opens another", async () => {
  const { server, connection } = await connectTo("legacy");
  await connection.perform(work, quiet, never);
  await connection.close();
  expect(connection.state().status).toBe("closed");
  expect(openings(server).map(({ http }) => http)).toContain("DELETE");
  expect(await connection.perform(work, quiet, never)).toMatchObject({ ok: true });
});

test.each(eras)("PRJ-4 %s: the call's progress, log messages, row of the log and questions reach it", async (era) => {
  const { connection } = await connectTo(era);
  const events: unknown[] = [];
  const handlers: CallHandlers = {
    onProgress: (progress) => events.push(progress),
    onLog: ({ data }) => events.push(data),
    onRequest: (requestId) => events.push(requestId.slice(0, 8)),
    onElicit: async ({ message }) => {
      events.push(message);
      return { action: "accept", content: { seats: 2 } };
    },
    onSample: async () => ({ text: "red", model: "me" }),
  };
  await connection.perform(work, handlers, never);
  expect(events).toEqual(["00000000", { progress: 1, total: 1, message: "step 1" }, { step: 1 }]);
  expect(textOf(await connection.perform({ kind: "tool", name: "book", arguments: {} }, handlers, never))).toContain(
    "booked 2",
  );
  expect(textOf(await connection.perform({ kind: "tool", name: "paint", arguments: {} }, handlers, never))).toContain(
    "painted red",
  );
  expect(events).toContain("How many seats?");
});

test("PRJ-4 a call is canceled, and the connection serves the next one", async () => {
  const { connection } = await connectTo("modern");
  await connection.perform(work, quiet, never);
  const cancel = new AbortController();
  const waiting = connection.perform({ kind: "tool", name: "wait", arguments: {} }, quiet, cancel.signal);
  cancel.abort();
  expect(await waiting).toEqual({ ok: false, code: "aborted", rpcCode: null, message: "You canceled the call." });
  expect(await connection.perform(work, quiet, never)).toMatchObject({ ok: true, connectMs: 0 });
});

test("PRJ-4 failures say why: the tool's own message, the protocol's, the gateway's, Towpath's, nobody there", async () => {
  const { connection, server } = await connectTo("modern");
  const failed = await connection.perform({ kind: "tool", name: "fails", arguments: {} }, quiet, never);
  expect(textOf(failed)).toContain("no such account");
  const unknown = await connection.perform({ kind: "resource", uri: "text://nope" }, quiet, never);
  expect(unknown).toMatchObject({ ok: false, code: "server_error", rpcCode: expect.any(Number) });
  const gateway = await refusing(503, { error: { message: "The server failed to start." } });
  expect(await gateway.perform(work, quiet, never)).toMatchObject({
    ok: false,
    message: "The server failed to start.",
  });
  const ours = await refusing(401, { error: { message: "Not authenticated" } }, { [refusalHeader]: "1" });
  expect(await ours.perform(work, quiet, never)).toEqual({
    ok: false,
    code: "refused",
    rpcCode: null,
    message: "Not authenticated",
  });
  await server.close();
  ends.splice(0, 1);
  const gone = connect(server.url);
  expect(await gone.perform(work, quiet, never)).toMatchObject({ ok: false, code: "unreachable" });
  expect(gone.state().status).toBe("closed");
});

/** A connection to something that answers every request so. */
async function refusing(status: number, body: unknown, headers = {}): Promise<ServerConnection> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  return connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

test("PRJ-4 values are suggested once connected, and typing connects nobody", async () => {
  const { connection } = await connectTo("modern");
  const complete = () => connection.complete({ prompt: "visit" }, { name: "city", value: "O" }, never);
  expect(await complete()).toEqual([]);
  await connection.open();
  expect(await complete()).toEqual(["Oslo", "Oxford"]);
});
