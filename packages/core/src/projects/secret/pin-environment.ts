import type { Transaction } from "@towpath/db";
import { build, project } from "@towpath/db/schema";
import { findDataKey, openSecrets, versionsOf } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { findFork } from "../../delivery/branch/index.ts";
import { listCurrentVersions, lockProject } from "./secret.store.ts";

/**
 * Ties the variables of an environment, as they are now, to a build under way, and returns their values (RUN-4). Its
 * deployment starts with these versions for good. A build of a pull request from a fork gets none (BLD-9). Null when another worker has the build.
 *
 * @throws when one of them can't be decrypted: a server must not start with a missing variable
 */
export async function pinEnvironment(call: {
  ctx: Context<"secrets">;
  input: {
    readonly projectId: string;
    readonly environment: "production" | "preview";
    readonly buildId: string;
    readonly attempt: number;
  };
}): Promise<Readonly<Record<string, string>> | null> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const { projectId, environment, buildId, attempt } = input;
  return ctx.db.transaction(async (tx) => {
    // A version that is replaced before the build refers to it could be removed.
    await lockProject(tx, projectId);
    const current = (await isOfFork(tx, buildId))
      ? []
      : (await listCurrentVersions(tx, projectId)).filter(({ secret }) => secret.environments.includes(environment));
    const [pinned] = await tx
      .update(build)
      .set({ secretVersionIds: current.map(({ versionId }) => versionId) })
      .where(
        and(
          eq(build.id, buildId),
          eq(build.projectId, projectId),
          eq(build.status, "building"),
          eq(build.attempt, attempt),
        ),
      )
      .returning({ id: build.id });
    if (!pinned) return null;
    if (current.length === 0) return {};
    const box = ctx.secrets;
    const [owner] = await tx
      .select({ organizationId: project.organizationId })
      .from(project)
      .where(eq(project.id, projectId));
    if (!owner) return null;
    const secrets = current.map(({ secret }) => ({ ...secret, ...owner, secretId: secret.id }));
    const values = openSecrets(box, { secrets, dataKey: await findDataKey(tx, projectId) });
    await audit(tx, ctx, {
      ...owner,
      projectId,
      action: "secret.decrypt",
      subject: buildId,
      detail: { reason: "build", versions: versionsOf({ secrets }) },
    });
    return values;
  });
}

async function isOfFork(tx: Transaction, buildId: string): Promise<boolean> {
  const [of] = await tx.select({ branchId: build.branchId }).from(build).where(eq(build.id, buildId));
  return of !== undefined && (await findFork(tx, of.branchId)) !== null;
}
