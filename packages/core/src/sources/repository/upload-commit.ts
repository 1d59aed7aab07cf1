import type { z } from "zod";
import type { Context } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import type { Commit } from "../../projects/project/project.schema.ts";
import { actingAuthor } from "./acting-author.ts";
import { findRepositoryForGit } from "./find-repository-for-git.ts";
import { receivePush } from "./receive-push.ts";
import { uploadCommitSchema } from "./repository.schema.ts";

/**
 * Commits an archive's files to a branch of a repository of this instance (SRC-3), in the name of who uploads it; what is
 * built from it is checked at once. Files that the archive doesn't have are not in the commit, nor those
 * that `leftOut` names.
 *
 * @returns the commit; `changed` is false when the branch had the same files, and then it is the branch's head
 * @throws TowpathError `not_found`, `forbidden`, `conflict` for another head than the expected one, `invalid_input` for
 * what isn't an archive or holds what a repository can't, `out_of_storage`
 */
export async function uploadCommit(call: {
  ctx: Context<"instanceRepositories">;
  input: z.input<typeof uploadCommitSchema> & {
    readonly orgSlug: string;
    /** A zip, tar or gzipped tar. */
    readonly archive: ReadableStream<Uint8Array>;
  };
}): Promise<{
  readonly commit: Commit;
  readonly branch: string;
  readonly changed: boolean;
  readonly leftOut: readonly string[];
}> {
  const { ctx } = call;
  const { orgSlug, archive } = call.input;
  const { name, branch: named, message, expectedHead } = parseInput(uploadCommitSchema, call.input);
  const { id, defaultBranch } = await findRepositoryForGit({ ctx, input: { orgSlug, name, access: "write" } });
  const branch = named ?? defaultBranch;
  const { commit, changed, leftOut } = await ctx.instanceRepositories.commitFiles(id, {
    branch,
    archive,
    message,
    author: await actingAuthor(ctx),
    ...(expectedHead !== undefined && { expectedHead }),
  });
  if (!changed) return { commit, branch, changed, leftOut };
  await receivePush({ ctx, input: { repositoryId: id, refs: [`refs/heads/${branch}`] } });
  return { commit, branch, changed, leftOut };
}
