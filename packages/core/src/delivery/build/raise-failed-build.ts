import type { Transaction } from "@towpath/db";
import { branch, build } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { raiseAlert } from "../../operations/alert/internal.ts";
import type { Diagnosis } from "./build-contract.schema.ts";
import { shortCommit } from "./version.schema.ts";

/** Raises the alert of a build that has failed, or of its release that went back (CAP-6), in the transaction that ends it. */
export async function raiseFailedBuild(
  tx: Transaction,
  ctx: Context,
  { buildId, diagnosis }: { readonly buildId: string; readonly diagnosis: Pick<Diagnosis, "title" | "remedy"> },
): Promise<void> {
  const { projectId, commitSha, packageVersion } = build;
  const [found] = await tx
    .select({ projectId, commitSha, packageVersion, branch: branch.name, isDefault: branch.isDefault })
    .from(build)
    .innerJoin(branch, eq(branch.id, build.branchId))
    .where(eq(build.id, buildId));
  if (!found) return;
  const kind = found.isDefault ? "deployment.failed" : "preview.failed";
  const built = found.packageVersion ?? shortCommit(found.commitSha);
  const { title, remedy } = diagnosis;
  const event = { kind, projectId: found.projectId, buildId, branch: found.branch, built, title, remedy } as const;
  await raiseAlert(tx, event, ctx.clock.now());
}
