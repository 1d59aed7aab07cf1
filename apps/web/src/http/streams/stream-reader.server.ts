import { setTimeout as sleep } from "node:timers/promises";
import type { Context, FullContext } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { readerContext } from "../caller.server.ts";

export type StreamReader = {
  readonly ctx: FullContext;
  /** @throws TowpathError when the session has ended or the log may no longer be read. */
  readonly check: () => Promise<void>;
  readonly checkEveryMs: number;
};

/** Maximum time that a removed member can continue to read. */
const checkEveryMs = 10_000;

/** Each open page with a log is one stream. The operator's count only towards `maxStreams`. */
const maxStreamsPerUser = 20;
const maxStreams = 1000;

/**
 * Authenticates a stream's reader. `mayRead` checks their permission, now and repeatedly while the stream is open.
 *
 * @throws TowpathError `unauthenticated`, and errors of `mayRead`
 */
export async function streamReader(
  request: Request,
  mayRead: (ctx: Context) => Promise<unknown>,
): Promise<StreamReader> {
  const ctx = await readerContext(request);
  await mayRead(ctx);
  const check = async () => {
    await mayRead(await readerContext(request));
  };
  return { ctx, check, checkEveryMs };
}

/** Rejects when the reader loses access, such as a removed member, and when the stream has ended. */
export async function watchReader(reader: StreamReader, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(reader.checkEveryMs, undefined, { signal });
    await reader.check();
  }
}

/** Key for counting a reader's streams; null for the operator. */
function readerId(actor: Context["actor"]): string | null {
  if (actor.kind === "apiKey") return actor.keyId;
  return actor.kind === "user" ? actor.userId : null;
}

let openStreams = 0;
const openByUser = new Map<string, number>();

/**
 * Counts a stream as open until the returned function is called.
 *
 * @throws TowpathError `limit_reached`
 */
export function countStream({ ctx }: StreamReader): () => void {
  if (openStreams >= maxStreams)
    throw new TowpathError("limit_reached", "Too many people are reading logs right now. Try again in a moment.");
  const userId = readerId(ctx.actor);
  const own = userId === null ? 0 : (openByUser.get(userId) ?? 0);
  if (own >= maxStreamsPerUser) {
    throw new TowpathError("limit_reached", `You have ${own} logs open, which is the limit. Close one and try again.`);
  }
  openStreams += 1;
  if (userId !== null) openByUser.set(userId, own + 1);
  return () => {
    openStreams -= 1;
    if (userId === null) return;
    const left = (openByUser.get(userId) ?? 1) - 1;
    if (left === 0) openByUser.delete(userId);
    else openByUser.set(userId, left);
  };
}
