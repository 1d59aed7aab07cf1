import type { ForgeContext } from "../forge.context.ts";
import { resolveCommit } from "../git/bare-repository.ts";
import { ensureDirectory } from "../repositories.ts";
import { type Annotation, type AnnotationKind, findAnnotation } from "../state/annotations.ts";
import type { Repository } from "../state/repositories.ts";
import { type Access, authorizeByName, type Permission, type RestContext, repositoryName } from "./caller.ts";
import { numberParam, RestError } from "./rest-request.ts";

/* Shared by the routes of statuses, check runs, deployments and comments: all are annotations of a repository. */

export const openRepository = (
  context: ForgeContext,
  c: RestContext,
  permission: Permission,
  access: Access,
): Repository => authorizeByName(context, c.get("caller"), repositoryName(c), permission, access);

export async function shaOf(context: ForgeContext, repository: Repository, ref: string): Promise<string> {
  const sha = await resolveCommit(await ensureDirectory(context, repository), ref);
  if (sha === null) throw new RestError(422, `No commit found for ref: ${ref}`);
  return sha;
}

/** The annotation that the path names by `id`. */
export function existing(
  { database }: ForgeContext,
  c: RestContext,
  repository: Repository,
  kind: AnnotationKind,
): Annotation {
  const found = findAnnotation(database, repository.id, kind, numberParam(c, "id"));
  if (found === null) throw new RestError(404, "Not Found");
  return found;
}

export const annotationShape = ({ id, content, created_at, updated_at }: Annotation) => ({
  ...content,
  id,
  created_at,
  updated_at,
});

export const base = "/repos/:owner/:repo";
