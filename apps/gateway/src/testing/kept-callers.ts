import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { RawClient } from "./counting-server.ts";
import type { Asked } from "./kept-judge.ts";

/** A server with the tool `work` of fastmcp/count.py, as clients reach it. */
export type KeptTarget = {
  /** Each with the name of the process that serves it at the moment. */
  readonly gateways: readonly { readonly name: string; readonly url: URL }[];
  /** Headers by which each caller is known. One alone would reach the limits of a caller. */
  readonly callers: readonly Readonly<Record<string, string>>[];
};

export type KeptOptions = {
  readonly calls: number;
  readonly concurrency: number;
  /** Seconds that a call takes at most. */
  readonly maxSeconds: number;
};

const ways = ["key", "task-legacy", "task-modern", "repeat"] as const;
/** While the server or a gateway starts on a busy machine, all fail: about two minutes. */
const maxAttempts = 600;

/**
 * Makes long calls whose clients break their connections at random times, and ask again until they have an end: with their
 * key, or without one with the same id in the same session. Adds each to `asked` once it has ended, by its argument `call`.
 */
export async function makeKeptCalls(
  { gateways, callers }: KeptTarget,
  { calls, concurrency, maxSeconds }: KeptOptions,
  asked: Map<string, Asked>,
): Promise<void> {
  const waiting = Array.from({ length: calls }, () => randomUUID());
  const work = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) asked.set(id, await endOf(id));
  };
  await Promise.all(Array.from({ length: concurrency }, work));

  async function endOf(id: string): Promise<Asked> {
    const way = pick(ways);
    const begunAt = Date.now();
    const asks: { gateway: string; at: number }[] = [];
    const breaks: number[] = [];
    const caller = pick(callers);
    const params = { name: "work", arguments: { call: id, seconds: 0.2 + Math.random() * maxSeconds } };
    const key: Record<string, string> = way === "repeat" ? {} : { "idempotency-key": id };
    let session: RawClient | null = null;
    let end: string | null = null;
    for (let attempt = 0; attempt < maxAttempts && end === null; attempt++) {
      const signal = new AbortController();
      const isBroken = Math.random() < 0.5 && attempt < 5;
      const leave = () => {
        breaks.push(Date.now());
        signal.abort();
      };
      const timer = isBroken ? setTimeout(leave, Math.random() * maxSeconds * 1000) : undefined;
      end = await ask(signal.signal).catch(() => null);
      clearTimeout(timer);
      if (end === null) await sleep(50 + Math.random() * 300);
    }
    return { way, begunAt, asks, breaks, end: end ?? "no end", endedAt: Date.now() };

    /** Null: ask again. */
    async function ask(signal: AbortSignal): Promise<string | null> {
      const { name, url } = pick(gateways);
      const headers = { ...caller, ...key, "x-holder": name };
      if (way === "repeat" && session === null) {
        const opened = await RawClient.inSession(url, headers);
        if (!opened.isOpen) return null;
        session = opened;
      }
      asks.push({ gateway: name, at: Date.now() });
      if (session !== null) return endOfRepeat(await session.at(url).with(headers).call(1, params, signal));
      if (way === "key") return endIn(await (await RawClient.inSession(url, headers)).call(1, params, signal));
      const own = { headers, params };
      return way === "task-legacy" ? askLegacy(url, own, signal) : askModern(url, own, signal);
    }
  }
}

type Sent = { readonly headers: Record<string, string>; readonly params: object };

/** Creates the task of 2025-11-25, or finds it by its key, and waits for its result. */
async function askLegacy(url: URL, { headers, params }: Sent, signal: AbortSignal): Promise<string | null> {
  const client = await RawClient.inSession(url, headers, "2025-11-25");
  const created = await client.call(1, { ...params, task: {} }, signal);
  const taskId = /"taskId":"([^"]+)"/.exec(await created.clone().text())?.[1];
  if (taskId === undefined) return endIn(created, true);
  return endIn(await client.send({ id: 2, method: "tasks/result", params: { taskId } }, signal), true);
}

const declaring = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
};

/** Gets the result of 2026-07-28, or a task, for which it asks until that has ended. */
async function askModern(url: URL, { headers, params }: Sent, signal: AbortSignal): Promise<string | null> {
  const send = (method: string, name: string, own: object) =>
    new RawClient(url, {
      ...{ ...headers, "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name },
    }).send({ id: 1, method, params: { ...own, _meta: declaring } }, signal);
  const called = await send("tools/call", "work", params);
  const text = await called.clone().text();
  const taskId = /"taskId":"([^"]+)"/.exec(text)?.[1];
  // One that has ended without a run, before its client got an id, answers so under its key.
  if (taskId === undefined) return endIn(called, true);
  for (;;) {
    const got = await send("tasks/get", taskId, { taskId });
    if (!/"status":"working"/.test(await got.clone().text())) return endIn(got, true);
    await sleep(1000, undefined, { signal });
  }
}

/** Without a key, a call can be asked for again only in its session, which ends with the server. */
async function endOfRepeat(answer: Response): Promise<string | null> {
  return answer.status === 404 && (await answer.clone().text()).includes("-32001") ? "session lost" : endIn(answer);
}

/** How a call ended, by what its client got; null: ask again. `isTask`: an error is its end. */
async function endIn(answer: Response, isTask = false): Promise<string | null> {
  const text = await answer.text();
  // The server has closed the stream of a call that runs for the second time, as the first had the same id.
  if (answer.status === 200 && text === "") return null;
  if (/"towpath":"(?:outcome_unknown)"/.test(text)) return "unknown";
  const done = /done [0-9a-f-]{36}/.exec(text)?.[0];
  // A session, a place or a database that isn't there: nothing was run, or the next answer says what is known.
  if (done === undefined && (answer.status !== 200 || text.includes('"towpath":'))) {
    return isTask && answer.status === 200 ? "not run" : null;
  }
  return done ?? `odd: ${text.slice(0, 200)}`;
}

export const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;
