import type { Transaction } from "@towpath/db";
import { gitSource, repository } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { requirePush } from "./find-repository-for-git.ts";
import { lockRepository, requireNotContinued } from "./moving.store.ts";
import type { RepositoryRow } from "./repository.store.ts";

/**
 * Records what a push has stored, on behalf of who pushed: the audit log names them, and the servers that are built
 * from the repository are checked at once (SRC-3). The first branch of an empty repository becomes its default branch.
 *
 * @throws TowpathError `not_found` for a repository that was deleted meanwhile, `forbidden`; `conflict` for one that has
 * moved to GitHub meanwhile: the push is refused, though its commits are stored
 */
export async function receivePush(call: {
  ctx: Context<"instanceRepositories">;
  input: {
    readonly repositoryId: string;
    /** Full names of branches and tags that the push has moved, made or deleted. */
    readonly refs: readonly string[];
  };
}): Promise<void> {
  const { ctx, input } = call;
  const [row] = isId(input.repositoryId)
    ? await ctx.db.select().from(repository).where(eq(repository.id, input.repositoryId))
    : [];
  if (!row) throw notFound("repository");
  await requirePush(ctx, row);
  if (input.refs.length > 0) await recordPush(ctx, row, input.refs);
}

/** In the audit log: a push can move thousands. */
const maxNamed = 10;

async function recordPush(
  ctx: Context<"instanceRepositories">,
  row: RepositoryRow,
  refs: readonly string[],
): Promise<void> {
  const { id, organizationId, name } = row;
  const store = ctx.instanceRepositories;
  const defaultBranch = (await store.open(id).refs()).defaultBranch ?? row.defaultBranch;
  if (defaultBranch !== row.defaultBranch) await store.setDefaultBranch(id, defaultBranch);
  await ctx.db.transaction(async (tx) => {
    // One that began before the repository moved, and ended afterwards: who pushed has to push there.
    const now = await lockRepository(tx, id);
    if (now === null) throw notFound("repository");
    requireNotContinued(now);
    await tx.update(repository).set({ pushedAt: ctx.clock.now(), defaultBranch }).where(eq(repository.id, id));
    await audit(tx, ctx, {
      organizationId,
      action: "repository.push",
      subject: name,
      detail: {
        refs: refs.slice(0, maxNamed).map((ref) => ref.replace(/^refs\/(heads|tags)\//, "")),
        count: refs.length,
      },
    });
    await checkServers(tx, ctx, row);
  });
}

/** Jobs ask the repository how its branches are now (decision 007). */
async function checkServers(tx: Transaction, ctx: Context, { id }: RepositoryRow): Promise<void> {
  const rows = await tx
    .update(gitSource)
    .set({ nextCheckAt: ctx.clock.now() })
    .where(eq(gitSource.repositoryId, id))
    .returning({ projectId: gitSource.projectId });
  for (const { projectId } of rows) {
    await ctx.queue.enqueue("source.check", { projectId }, { key: projectId, transaction: tx });
  }
}
