import { gitSource, repository } from "@towpath/db/schema";
import { and, eq, inArray, isNull, lt, notExists, or, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize, authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { requireConfirmation } from "../../input/index.ts";
import { lockRepository } from "./moving.store.ts";
import { projectsOf, requireRepository } from "./repository.store.ts";

/**
 * Deletes a repository of this instance with all its commits (SRC-3).
 *
 * @throws TowpathError `conflict` while a server is built from it, which the text names; `invalid_input` with
 * `fields.confirmation` unless that is the repository's name; `not_found`
 */
export async function deleteRepository(call: {
  ctx: Context<"instanceRepositories">;
  input: { readonly orgSlug: string; readonly name: string; readonly confirmation: string };
}): Promise<{ readonly id: string }> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "project.delete", { orgSlug: input.orgSlug });
  const { id, name } = await requireRepository(ctx.db, organization.id, input.name);
  requireConfirmation(input.confirmation, name);
  await removeRepository(ctx, organization.id, { id, name });
  return { id };
}

/**
 * The same without a permission, for a verb that ends what it began.
 *
 * @throws TowpathError `conflict`, `not_found`
 */
export async function removeRepository(
  ctx: Context<"instanceRepositories">,
  organizationId: string,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  const store = ctx.instanceRepositories;
  await ctx.db.transaction(async (tx) => {
    // A server that is made from it at the same time keeps it until then: see `keepRepository`.
    if ((await lockRepository(tx, id)) === null) throw notFound("repository");
    const servers = await projectsOf(tx, [id]);
    if (servers.length > 0) throw inUse(servers.map((each) => each.name));
    await tx.delete(repository).where(eq(repository.id, id));
    await audit(tx, ctx, { organizationId, action: "repository.delete", subject: name });
  });
  await store.remove(id);
}

/** How long its address names the repository that continues it on GitHub, and its commits are kept here. */
const continuedForMs = 30 * 86_400_000;

/**
 * Deletes repositories that a deploy of a folder or an upload made and no server is built from: those of deleted servers,
 * and of deploys that never became one. What somebody made for pushes stays. Any that continues on GitHub is deleted after 30 days.
 * Returns how many.
 */
export async function removeUnusedRepositories({
  ctx,
  input,
}: Call<{ readonly unchangedSince: Date }, "instanceRepositories">): Promise<number> {
  authorizePlatform(ctx);
  const isUsed = ctx.db.select().from(gitSource).where(eq(gitSource.repositoryId, repository.id));
  const unused = await ctx.db
    .select({ id: repository.id, name: repository.name, organizationId: repository.organizationId })
    .from(repository)
    .where(
      and(
        or(
          and(
            inArray(repository.madeBy, ["deploy", "upload"]),
            isNull(repository.continuedAt),
            lt(sql`coalesce(${repository.pushedAt}, ${repository.createdAt})`, input.unchangedSince),
          ),
          lt(repository.continuedAt, new Date(ctx.clock.now().getTime() - continuedForMs)),
        ),
        notExists(isUsed),
      ),
    );
  let removed = 0;
  for (const each of unused) {
    try {
      await removeRepository(ctx, each.organizationId, each);
      removed += 1;
    } catch (error) {
      // A server was made from it meanwhile, or another worker deleted it.
      if (!(error instanceof TowpathError && (error.code === "conflict" || error.code === "not_found"))) throw error;
    }
  }
  return removed;
}

function inUse(names: readonly string[]): TowpathError {
  const [which, them] = names.length === 1 ? ["The server", "it"] : ["The servers", "them"];
  return new TowpathError(
    "conflict",
    `${which} ${names.join(", ")} ${names.length === 1 ? "is" : "are"} built from this repository. Delete ${them}, or change where ${names.length === 1 ? "its" : "their"} code comes from, then try again.`,
  );
}
