import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "./load.ts";

export type StandingStreams = {
  /** Streams that are open now. */
  readonly open: number;
  /** Reopens ended streams; resolves once all are open. */
  reopen(): Promise<void>;
  /** Closes all. Returns when streams ended that nobody had closed, by performance.now(). */
  stop(): readonly number[];
};

const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };

/** Sends a request on a connection of its own, without any limit of time. Resolves to its answer's head. */
async function send(target: Target, method: string, headers: Record<string, string>, body?: object) {
  const call: ClientRequest = request(target.url, {
    method,
    agent: false,
    headers: { ...accept, ...target.headers?.(), ...headers },
  });
  call.on("error", () => {});
  call.end(body && JSON.stringify(body));
  const [response]: IncomingMessage[] = await once(call, "response");
  if (!response || (response.statusCode ?? 500) >= 300) throw new Error(`${method} got ${response?.statusCode}`);
  return response;
}

/** Begins a session of 2025-11-25 and opens the standalone stream for messages of the server. */
async function openStream(target: Target): Promise<IncomingMessage> {
  const protocolVersion = "2025-11-25";
  const clientInfo = { name: "standing-stream", version: "1.0.0" };
  const params = { protocolVersion, capabilities: {}, clientInfo };
  const begun = await send(target, "POST", {}, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  await begun.resume().toArray();
  const session = begun.headers["mcp-session-id"];
  const headers = { "mcp-protocol-version": protocolVersion, ...(session && { "mcp-session-id": String(session) }) };
  const accepted = await send(target, "POST", headers, { jsonrpc: "2.0", method: "notifications/initialized" });
  await accepted.resume().toArray();
  return send(target, "GET", headers);
}

/** Keeps a standalone stream open at each target. */
export async function openStandingStreams(targets: readonly Target[]): Promise<StandingStreams> {
  const open = new Map<Target, IncomingMessage>();
  const ended: number[] = [];
  let isStopping = false;
  const reopen = async () => {
    for (const target of targets) {
      while (!open.has(target)) {
        const stream = await openStream(target).catch(() => null);
        if (stream === null) {
          await sleep(200);
          continue;
        }
        open.set(target, stream);
        stream.on("error", () => {}).resume();
        stream.once("close", () => {
          open.delete(target);
          if (!isStopping) ended.push(performance.now());
        });
      }
    }
  };
  await reopen();
  return {
    get open() {
      return open.size;
    },
    reopen,
    stop() {
      isStopping = true;
      for (const stream of open.values()) stream.destroy();
      return ended;
    },
  };
}
