import type { ForgeContext } from "../forge.context.ts";
import { listBranches, resolveCommit } from "../git/bare-repository.ts";
import { ensureDirectory } from "../repositories.ts";
import type { Repository } from "../state/repositories.ts";
import { authorizeByName, type Permission } from "./caller.ts";
import { RestError } from "./rest-error.ts";
import { type RestContext, repositoryName } from "./rest-request.ts";

/** The repository of the path when the caller may read it. */
export function reading(context: ForgeContext, c: RestContext, permission: Permission = "contents"): Repository {
  return authorizeByName(context, c.get("caller"), repositoryName(c), permission, "read");
}

/** One of its commits. GitHub tells an empty repository apart, except where it is asked for a path. */
export async function commitOf(
  context: ForgeContext,
  c: RestContext,
  ref: string,
): Promise<{ repository: Repository; directory: string; sha: string }> {
  const repository = reading(context, c);
  const directory = await ensureDirectory(context, repository);
  const sha = await resolveCommit(directory, ref);
  if (sha !== null) return { repository, directory, sha };
  const isEmpty = (await listBranches(directory)).size === 0 && c.req.param("path") === undefined;
  throw isEmpty ? new RestError(409, "Git Repository is empty.") : new RestError(404, "Not Found");
}
