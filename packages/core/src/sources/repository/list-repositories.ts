import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { type RepositoryView, repositoryView, repositoryViews, requireRepository } from "./repository.store.ts";

/** The repositories of an organization, by name (SRC-3). */
export async function listRepositories(call: Call<{ readonly orgSlug: string }>): Promise<readonly RepositoryView[]> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "project.read", { orgSlug: input.orgSlug });
  return repositoryViews(ctx, ctx.db, organization);
}

/** @throws TowpathError `not_found`, also for repositories of other organizations */
export async function getRepository({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly name: string }>): Promise<RepositoryView> {
  const { organization } = await authorize(ctx, "project.read", { orgSlug: input.orgSlug });
  const row = await requireRepository(ctx.db, organization.id, input.name);
  return repositoryView(ctx, ctx.db, organization, row.id);
}
