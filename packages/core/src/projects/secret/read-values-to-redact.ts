import { openSecrets, readCallerValues, readDeploymentSecrets, versionsOf } from "@towpath/secrets";
import { audit } from "../../audit/index.ts";
import type { ProjectScope } from "../../authorize/index.ts";
import { authorizeCaller } from "../../calling/access/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";

/**
 * The values of the variables with which a deployment's server answers the acting person, by name, to remove them from
 * what it says (KEY-4): those that it was built with, and the person's own in place of those that are per caller (CAP-1).
 * Never pass them on. The audit log has each time (KEY-2).
 *
 * @throws TowpathError `forbidden` for who may not call the server; Error when a value doesn't open
 */
export async function readValuesToRedact({
  ctx,
  input,
}: Call<ProjectScope & { readonly deploymentId: string }, "secrets">): Promise<Readonly<Record<string, string>>> {
  const { project, organization } = await authorizeCaller(ctx, input);
  const { deploymentId } = input;
  const stored = await readDeploymentSecrets(ctx.db.$client, deploymentId);
  if (stored === null) throw notFound("deployment");
  if (stored.secrets.some(({ projectId }) => projectId !== project.id)) throw notFound("deployment");
  const { actor } = ctx;
  const userId = actor.kind === "user" || actor.kind === "apiKey" ? actor.userId : null;
  const own = userId === null ? null : await readCallerValues(ctx.db.$client, { deploymentId, userId });
  const all = [{ of: stored, caller: {} }, ...(own ? [{ of: own.stored, caller: { caller: userId } }] : [])];
  const used = all.filter(({ of }) => of.secrets.length > 0);
  await ctx.db.transaction(async (tx) => {
    for (const { of, caller } of used)
      await audit(tx, ctx, {
        organizationId: organization.id,
        projectId: project.id,
        action: "secret.decrypt",
        subject: deploymentId,
        detail: { reason: "redaction", versions: versionsOf(of), ...caller },
      });
  });
  return Object.assign({}, ...used.map(({ of }) => openSecrets(ctx.secrets, of)));
}
