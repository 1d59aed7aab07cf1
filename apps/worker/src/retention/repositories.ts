import type { Context } from "@towpath/core/context";
import { existingRepositories } from "@towpath/core/retention";
import type { Repositories } from "@towpath/git";

/** A directory is made a moment after its row, and moved here before it when an earlier release's data is. */
const graceMs = 24 * 60 * 60_000;

/**
 * Removes repositories of this instance whose row is gone, as with their organization, and packs the others (LOG-6).
 * Returns how many were removed.
 */
export async function sweepRepositories(
  ctx: Context,
  store: Pick<Repositories, "list" | "sweep" | "pack">,
  signal?: AbortSignal,
): Promise<number> {
  const ids = await store.list();
  const known = await existingRepositories({ ctx, input: { ids } });
  const removed = await store.sweep(known, new Date(ctx.clock.now().getTime() - graceMs));
  for (const id of ids) {
    if (signal?.aborted) break;
    if (known.has(id)) await store.pack(id);
  }
  return removed;
}
