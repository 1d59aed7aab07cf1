import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import type { BuildView } from "../../delivery/build/index.ts";
import { parseInput } from "../../input/index.ts";
import { deployRepository, type ProjectView, requireFreeName } from "../../projects/project/index.ts";
import { createRepository } from "./create-repository.ts";
import { removeRepository } from "./delete-repository.ts";
import { type DeployFilesInput, deployFilesSchema } from "./repository.schema.ts";
import { freeRepositoryName } from "./repository.store.ts";
import { uploadCommit } from "./upload-commit.ts";

/**
 * Makes a server of an archive's files (SRC-4): they become the first commit of a repository of this instance, which is
 * named like the server and deployed. A refusal leaves no repository behind.
 *
 * @throws TowpathError as `uploadCommit` and `deployRepository`
 */
export async function deployFiles(call: {
  ctx: Context<"instanceRepositories" | "secrets">;
  input: DeployFilesInput & {
    /** A zip, tar or gzipped tar. */
    readonly archive: ReadableStream<Uint8Array>;
  };
}): Promise<{
  readonly project: ProjectView;
  readonly build: BuildView;
  /** What of the archive isn't in the repository, for people. */
  readonly leftOut: readonly string[];
}> {
  const { ctx } = call;
  const { archive, message, orgSlug, ...settings } = call.input;
  const { organization } = await authorize(ctx, "project.create", { orgSlug });
  const { name } = parseInput(deployFilesSchema, { message, ...settings });
  // Before anything is stored: what is refused most often.
  await requireFreeName(ctx.db, name);
  const free = await freeRepositoryName(ctx.db, organization.id, name.toLowerCase());
  const made = await createRepository({ ctx, input: { orgSlug, name: free, madeBy: "upload" } });
  try {
    const { leftOut } = await uploadCommit({ ctx, input: { orgSlug, name: free, message, archive } });
    return { ...(await deployRepository({ ctx, input: { ...settings, orgSlug, repository: free } })), leftOut };
  } catch (error) {
    await removeRepository(ctx, organization.id, made);
    throw error;
  }
}
