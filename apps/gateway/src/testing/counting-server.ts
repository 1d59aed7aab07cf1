import { randomUUID } from "node:crypto";
import type { RequestListener, ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { storeApiKey } from "./clients.ts";
import type { DeployedServer, Rig } from "./rig.ts";

type Asked = { id?: number | string; method: string; params?: { name?: string; arguments?: unknown } };

/** A server of both eras that counts what it runs. Each call is answered once it is released. */
export type CountingServer = {
  readonly listener: RequestListener;
  /** The arguments of each run, in order. */
  readonly runs: unknown[];
  /** Runs whose connection the gateway closed before they were answered. */
  readonly closed: unknown[];
  /** Answers the calls that wait, and from then on each at once. */
  release: () => void;
  /** Calls wait again. */
  hold: () => void;
};

/**
 * The tool `stream` answers with events, which begin at once; all others with JSON. `break` closes the connection, and `silent`
 * ends its stream without an answer.
 */
function createCountingServer(newSessionId: () => string): CountingServer {
  const waiting: (() => void)[] = [];
  let isHeld = true;
  const runs: unknown[] = [];
  const closed: unknown[] = [];
  const answer = (response: ServerResponse, { id, params }: Asked) => {
    if (params?.name === "break") return void response.destroy();
    if (params?.name === "silent") return void response.end();
    const text = JSON.stringify({
      jsonrpc: "2.0",
      id,
      result: { content: [{ type: "text", text: `run ${runs.length}` }], structuredContent: params?.arguments },
    });
    if (params?.name === "stream") response.end(`event: message\ndata: ${text}\n\n`);
    else response.writeHead(200, { "content-type": "application/json" }).end(text);
  };
  const listener: RequestListener = async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const asked = (await readJson(request)) as Asked;
    if (asked.method === "initialize") {
      const headers = { "content-type": "application/json", "mcp-session-id": newSessionId() };
      const serverInfo = { name: "counting", version: "1" };
      const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
      return void response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id: asked.id, result }));
    }
    if (asked.method !== "tools/call") return void response.writeHead(202).end();
    runs.push(asked.params?.arguments);
    response.once("close", () => response.writableFinished || closed.push(asked.params?.arguments));
    if (asked.params?.name === "stream" || asked.params?.name === "silent") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": begun\n\n");
    }
    if (isHeld) waiting.push(() => answer(response, asked));
    else answer(response, asked);
  };
  return {
    listener,
    runs,
    closed,
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      for (const each of waiting.splice(0)) each();
    },
  };
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** A client without a library, which can break its connection and send the same request again. */
export class RawClient {
  readonly #url: URL;
  readonly #headers: Record<string, string>;

  constructor(url: URL, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = { ...json, "mcp-protocol-version": "2025-06-18", ...headers };
  }

  /** The same caller in a session, opened at `url`. */
  static async inSession(url: URL, who: Record<string, string>, protocolVersion = "2025-06-18"): Promise<RawClient> {
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const headers = { ...who, "mcp-protocol-version": protocolVersion };
    const opened = await new RawClient(url, headers).send({ id: 0, method: "initialize", params });
    await opened.text();
    return new RawClient(url, { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" });
  }

  /** Whether the server has opened a session. */
  get isOpen(): boolean {
    return (this.#headers["mcp-session-id"] ?? "") !== "";
  }

  /** The same client at another gateway. */
  at(url: URL): RawClient {
    return new RawClient(url, this.#headers);
  }

  with(headers: Record<string, string>): RawClient {
    return new RawClient(this.#url, { ...this.#headers, ...headers });
  }

  send(message: object, signal?: AbortSignal): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return fetch(this.#url, { method: "POST", headers: this.#headers, body, ...(signal && { signal }) });
  }

  call(id: number, params: object = callOf(), signal?: AbortSignal): Promise<Response> {
    return this.send({ id, method: "tools/call", params }, signal);
  }

  /** The answer's message; that of the last event of a stream. */
  async result(id: number, params: object = callOf()): Promise<Answer> {
    return messageOf(await (await this.call(id, params)).text());
  }

  /** Sends a call and breaks its connection once `hasBegun`. */
  async breakOff(id: number, params: object, hasBegun: () => Promise<unknown>): Promise<void> {
    const leaving = new AbortController();
    const called = this.call(id, params, leaving.signal);
    await hasBegun();
    leaving.abort();
    await called.then((answer) => answer.text()).catch(() => {});
  }
}

export type Answer = {
  id: number;
  result?: { content: { text: string }[]; structuredContent: unknown };
  error?: { code: number; message: string; data: { towpath: string } };
};

export const callOf = (amount: unknown = 1, name = "pay") => ({ name, arguments: { amount } });
const messageOf = (text: string): Answer =>
  JSON.parse(text.startsWith("{") ? text : (text.split("data: ").at(-1) ?? "").trim());

/** Deploys a server that only callers with a key may call; returns a new caller's header with each `caller()`. */
export async function deployCounting(
  rig: Rig,
  newSessionId: () => string = randomUUID,
): Promise<{
  server: DeployedServer;
  counting: CountingServer;
  caller: () => Promise<{ authorization: string }>;
}> {
  const counting = createCountingServer(newSessionId);
  const server = await rig.deploy(counting.listener, { authMode: "towpath-cloud" });
  const caller = async () => (await storeApiKey(rig, server.organizationId)).bearer;
  return { server, counting, caller };
}
