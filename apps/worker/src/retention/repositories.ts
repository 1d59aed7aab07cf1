import type { Context } from "@towpath/core/context";
import { existingRepositories } from "@towpath/core/operations/retention";
import { removeUnusedRepositories } from "@towpath/core/sources/repository";
import type { Repositories } from "@towpath/git";

/**
 * A directory is made just after its row, or just before it when data of an earlier release is moved. The terminal's
 * push precedes its server by seconds.
 */
const graceMs = 24 * 60 * 60_000;

/**
 * Removes repositories that a deploy made and no server is built from, and those whose row is gone (with their
 * organization, for example); packs the others (LOG-6). Returns how many were removed.
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
    // A damaged repository doesn't stop the others.
    if (known.has(id)) await store.pack(id).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} repositories could not be packed`);
  return unused + removed;
}
