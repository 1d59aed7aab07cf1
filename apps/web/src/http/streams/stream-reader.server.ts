import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { readerContext } from "../reader-context.server.ts";

/** Who reads a stream. */
export type StreamReader = {
  readonly ctx: Context;
  /** Asks again whether the session lasts and the log may be read. @throws TowpathError when not */
  readonly check: () => Promise<void>;
  readonly checkEveryMs: number;
};

/** A removed member reads on for no longer than this. */
const checkEveryMs = 10_000;

/** Each open page with a log is one; the operator's terminal and CI share the limit of all. */
const maxStreamsPerUser = 20;
const maxStreams = 1000;

/**
 * Checks who asks for a stream and that `mayRead` lets her, now and for as long as it is open.
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
 * Counts a stream that opens; the returned function says that it has ended.
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
