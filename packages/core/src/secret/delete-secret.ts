import { secret } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorizeProject } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";

/**
 * Removes a secret (KEY-1). Servers that run keep the value that they were started with.
 *
 * @throws TowpathError `not_found` when the project has none of that name.
 */
export async function deleteSecret(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string; readonly keyName: string };
}): Promise<{ readonly id: string }> {
  const { ctx, input } = call;
  const { project, organization } = await authorizeProject(ctx, "secret.manage", {
    orgSlug: input.orgSlug,
    projectName: input.projectName,
  });
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .delete(secret)
      .where(and(eq(secret.projectId, project.id), eq(secret.keyName, input.keyName)))
      .returning({ id: secret.id });
    if (!row) throw notFound("secret");
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "secret.delete",
      subject: input.keyName,
    });
    return row;
  });
}
