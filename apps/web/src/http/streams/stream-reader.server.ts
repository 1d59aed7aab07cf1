import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { readerContext } from "../caller.server.ts";

/** Who reads a stream. */
export type StreamReader = {
  readonly ctx: Context;
  /** Checks that the session is still valid and the log may still be read. @throws TowpathError when not */
  readonly check: () => Promise<void>;
  readonly checkEveryMs: number;
};

/** Milliseconds. A removed member can continue to read for at most this long. */
const checkEveryMs = 10_000;

/** Each open page with a log counts as one; the operator's terminal counts towards `maxStreams` only. */
const maxStreamsPerUser = 20;
const maxStreams = 1000;

/**
 * Authenticates a stream's reader and checks their permission with `mayRead`, now and for as long as the stream is open.
 *
 * @throws TowpathError `unauthenticated`, and what `mayRead` throws.
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

let count = 0;
const countByUser = new Map<string, number>();

/**
 * Counts a stream as open until the returned function is called.
 *
 * @throws TowpathError `limit_reached`
 */
export function countStream({ ctx }: StreamReader): () => void {
  if (count >= maxStreams)
    throw new TowpathError("limit_reached", "Too many people are reading logs right now. Try again in a moment.");
  const userId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
  const own = userId === null ? 0 : (countByUser.get(userId) ?? 0);
  if (own >= maxStreamsPerUser) {
    throw new TowpathError(
      "limit_reached",
      `You have ${own} logs open, which is the limit. Close a page that shows one, then try again.`,
    );
  }
  count += 1;
  if (userId !== null) countByUser.set(userId, own + 1);
  return () => {
    count -= 1;
    if (userId === null) return;
    const left = (countByUser.get(userId) ?? 1) - 1;
    if (left === 0) countByUser.delete(userId);
    else countByUser.set(userId, left);
  };
}
