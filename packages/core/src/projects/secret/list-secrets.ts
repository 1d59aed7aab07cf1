import { callerValue, secret } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { type SecretView, secretView } from "./secret.store.ts";

/** The secrets of a project by name, without their values (KEY-1). */
export async function listSecrets({ ctx, input }: Call<ProjectScope>): Promise<readonly SecretView[]> {
  const { project } = await authorizeProject(ctx, "secret.read", input);
  const rows = await ctx.db.select().from(secret).where(eq(secret.projectId, project.id)).orderBy(secret.keyName);
  return rows.map(secretView);
}

/**
 * Deletes a secret (KEY-1), with what callers have entered for it. Deployments keep the value that they were built with.
 *
 * @throws TowpathError `not_found` when the project has no secret of that name
 */
export async function deleteSecret({
  ctx,
  input,
}: Call<ProjectScope & { readonly keyName: string }>): Promise<{ readonly id: string }> {
  const { project, organization } = await authorizeProject(ctx, "secret.manage", input);
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .delete(secret)
      .where(and(eq(secret.projectId, project.id), eq(secret.keyName, input.keyName)))
      .returning({ id: secret.id });
    if (!row) throw notFound("variable");
    await tx
      .delete(callerValue)
      .where(and(eq(callerValue.projectId, project.id), eq(callerValue.keyName, input.keyName)));
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "secret.delete",
      subject: input.keyName,
    });
    return row;
  });
}
