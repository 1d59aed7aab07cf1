import { secret } from "@towpath/db/schema";
import { findDataKey } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";

/**
 * The value of a secret that isn't sensitive, for a person (KEY-1). The audit log says who has read it (KEY-2).
 *
 * @throws TowpathError `not_found`; `conflict` for a sensitive one, whose value never comes back
 */
export async function decryptSecret({
  ctx,
  input,
}: Call<ProjectScope & { readonly keyName: string }, "secrets">): Promise<{ readonly secretValue: string }> {
  const { project, organization } = await authorizeProject(ctx, "secret.decrypt", input);
  const box = ctx.secrets;
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .select()
      .from(secret)
      .where(and(eq(secret.projectId, project.id), eq(secret.keyName, input.keyName)));
    if (!row) throw notFound("variable");
    if (row.sensitive) {
      throw new TowpathError("conflict", `${row.keyName} is sensitive: its value can't be shown. You can replace it.`);
    }
    const binding = { ...row, organizationId: organization.id, secretId: row.id };
    const secretValue = box.decrypt(binding, await findDataKey(tx, project.id));
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "secret.decrypt",
      subject: row.keyName,
      detail: { reason: "reveal", version: row.version },
    });
    return { secretValue };
  });
}
