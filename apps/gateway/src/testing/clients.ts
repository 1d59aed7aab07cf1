import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { newApiKey } from "@towpath/auth/credentials";
import type { Rig } from "./rig.ts";

/** An empty answer to a request with the id 1. */
export const emptyResult = '{"jsonrpc":"2.0","id":1,"result":{}}';

/** A server that gives every request the same JSON answer. */
export function answerEmpty(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  answerJson(response, emptyResult);
}

export function answerJson(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" }).end(body);
}

/** A JSON-RPC request with the id 1, as text. */
export const rpc = (method = "tools/call") => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { name: "t" } });

/** What `postTo` sends: body, headers, signal. */
export type Sent = [body?: string | Buffer, headers?: Record<string, string>, signal?: AbortSignal];

/** Posts a JSON-RPC message to an MCP endpoint without a client library. */
export function postTo(url: URL, ...[body = rpc(), headers = {}, signal]: Sent): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    ...(signal ? { signal } : {}),
  });
}

const info = { name: "test-client", version: "9.1" };

/** What a user does with an address that a client asks to open. */
type Opens = (url: string) => Promise<"accept" | "decline">;

/** A connected client of 2026-07-28. `opens`: it declares that it can open addresses. */
export async function connectModern(
  url: URL,
  headers: Record<string, string> = {},
  {
    opens,
    ...options
  }: { fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>; opens?: Opens | undefined } = {},
) {
  const capabilities = opens ? { elicitation: { url: {} } } : {};
  const client = new ModernClient(info, { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } });
  if (opens) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      if (params.mode !== "url") throw new Error("only addresses can be opened");
      return { action: await opens(params.url) };
    });
  }
  await client.connect(new ModernTransport(url, { requestInit: { headers }, ...options }));
  return client;
}

/** A connected client of 2025-11-25. */
export async function connectLegacy(
  url: URL,
  headers: Record<string, string> = {},
  options: { fetch?: (url: string | URL, init?: RequestInit) => Promise<Response> } = {},
) {
  const client = new LegacyClient(info);
  const transport = new LegacyTransport(url, { requestInit: { headers }, ...options });
  await client.connect(transport);
  return { client, transport };
}

type StoredKey = { userId?: string; projectIds?: string[] };

/** A new API key for an organization's servers, of its own or of a person, as the header with it. */
export async function storeApiKey(rig: Rig, organizationId: string, { userId, projectIds }: StoredKey = {}) {
  const made = newApiKey();
  const id = randomUUID();
  await rig.database.pool.query(
    "INSERT INTO apikey (id, key, reference_id, user_id, project_ids) VALUES ($1, $2, $3, $4, $5)",
    [id, made.hash, organizationId, userId ?? null, projectIds ?? null],
  );
  return { id, bearer: { authorization: `Bearer ${made.key}` } };
}

/** A new member of an organization: the id of the user. */
export async function addMember(rig: Rig, organizationId: string, { role = "member", email = "" } = {}) {
  const userId = randomUUID();
  const { pool } = rig.database;
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'U', $2)`, [userId, email || userId]);
  await pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)", [
    randomUUID(),
    organizationId,
    userId,
    role,
  ]);
  return userId;
}

/** Writes bytes to a port unchanged and returns what it receives until the other side closes or 3 s pass. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1"));
    const done = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(3000, done);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("close", done);
    socket.on("error", done);
  });
}

/** The status code of a raw HTTP response. */
export function statusOf(response: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1] ?? 0);
}
