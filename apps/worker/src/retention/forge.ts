import type { Context } from "@towpath/core/context";
import { referencedRepositories } from "@towpath/core/retention";
import { type ForgeAdmin, isGitHubError } from "@towpath/github";

/** Between the terminal's push and the server that is made from it, there are seconds. */
const graceMs = 24 * 60 * 60_000;

/**
 * Deletes repositories of the local forge that the terminal made and no server is built from (LOG-6): those of deleted
 * servers, and of deploys that never became one. What a person made there stays. Returns how many.
 */
export async function sweepForge(ctx: Context, forge: ForgeAdmin, signal?: AbortSignal): Promise<number> {
  const unchangedSince = new Date(ctx.clock.now().getTime() - graceMs);
  const repositories = await forge.unchangedRepositories(unchangedSince);
  const used = await referencedRepositories({ ctx, input: { ids: repositories.map(({ id }) => id) } });
  let deleted = 0;
  for (const { id } of repositories) {
    if (signal?.aborted) break;
    if (used.has(id)) continue;
    try {
      await forge.deleteRepository({ id, unchangedSince });
      deleted++;
    } catch (error) {
      // Deployed again meanwhile, or deleted by another worker.
      if (!isGitHubError(error, "conflict") && !isGitHubError(error, "not_found")) throw error;
    }
  }
  return deleted;
}
