import { repository } from "@towpath/db/schema";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { actingUserId, authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { createRepositorySchema } from "./repository.schema.ts";
import { type RepositoryView, repositoryView } from "./repository.store.ts";

/**
 * Makes an empty repository of this instance (SRC-3), to be pushed to.
 *
 * @throws TowpathError `invalid_input` with `fields.name`, also for a name that the organization has; `out_of_storage`
 */
export async function createRepository(call: {
  ctx: Context<"instanceRepositories">;
  input: z.input<typeof createRepositorySchema> & { readonly orgSlug: string };
}): Promise<RepositoryView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const input = parseInput(createRepositorySchema, call.input);
  await requireStorageForBuilds(ctx);
  const store = ctx.instanceRepositories;
  const id = newId();
  const view = await ctx.db.transaction(async (tx) => {
    const inserted = await tx
      .insert(repository)
      .values({
        ...input,
        id,
        organizationId: organization.id,
        createdBy: actingUserId(ctx),
        createdAt: ctx.clock.now(),
      })
      .onConflictDoNothing()
      .returning({ id: repository.id });
    if (inserted.length === 0) throw taken(input.name);
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "repository.create",
      subject: input.name,
      detail: { madeBy: input.madeBy },
    });
    return repositoryView(ctx, tx, organization, id);
  });
  // After the row: a directory that nobody knows would stay, and one that is missing is made by the first push.
  await store.create(id, input.defaultBranch);
  return view;
}

function taken(name: string): TowpathError {
  const message = `The organization has a repository ${name} already. Choose another name.`;
  return new TowpathError("invalid_input", message, { fields: { name: message } });
}
