import { openSecrets, readDeploymentSecrets, versionsOf } from "@towpath/secrets";
import { audit } from "../../audit/index.ts";
import type { ProjectScope } from "../../authorize/index.ts";
import { authorizeCaller } from "../../calling/access/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";

/**
 * The values of the variables that a deployment was built with, by name, to remove them from what its server says
 * (KEY-4). Never pass them on. The audit log has each time (KEY-2).
 *
 * @throws TowpathError `forbidden` for who may not call the server; Error when a value doesn't open
 */
export async function readValuesToRedact({
  ctx,
  input,
}: Call<ProjectScope & { readonly deploymentId: string }, "secrets">): Promise<Readonly<Record<string, string>>> {
  const { project, organization } = await authorizeCaller(ctx, input);
  const stored = await readDeploymentSecrets(ctx.db.$client, input.deploymentId);
  if (stored === null) throw notFound("deployment");
  if (stored.secrets.length === 0) return {};
  if (stored.secrets.some(({ projectId }) => projectId !== project.id)) throw notFound("deployment");
  await ctx.db.transaction((tx) =>
    audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "secret.decrypt",
      subject: input.deploymentId,
      detail: { reason: "redaction", versions: versionsOf(stored) },
    }),
  );
  return openSecrets(ctx.secrets, stored);
}
