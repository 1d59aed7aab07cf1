import type { Context } from "@towpath/core/context";
import { removeUnusedRepositories } from "@towpath/core/repository";
import { existingRepositories } from "@towpath/core/retention";
import type { Repositories } from "@towpath/git";

/**
 * A directory is made a moment after its row, and moved here before it when an earlier release's data is. Between the
 * terminal's push and the server that is made from it, there are seconds.
 */
const graceMs = 24 * 60 * 60_000;

/**
 * Removes repositories of this instance that a deploy made and nothing is built from, and those whose row is gone, as with
 * their organization; packs the others (LOG-6). Returns how many were removed.
 */
export async function sweepRepositories(
  ctx: Context<"instanceRepositories">,
  store: Pick<Repositories, "list" | "sweep" | "pack">,
  signal?: AbortSignal,
): Promise<number> {
  const unchangedSince = new Date(ctx.clock.now().getTime() - graceMs);
  const unused = await removeUnusedRepositories({ ctx, input: { unchangedSince } });
  const ids = await store.list();
  const known = await existingRepositories({ ctx, input: { ids } });
  const removed = await store.sweep(known, unchangedSince);
  const errors: unknown[] = [];
  for (const id of ids) {
    if (signal?.aborted) break;
    // One that is damaged doesn't keep the others.
    if (known.has(id)) await store.pack(id).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} repositories could not be packed`);
  return unused + removed;
}
