import type { Database, Transaction } from "@towpath/db";
import { project as projectTable, releasePolicy } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, isOrganizationKey, type ProjectScope, roleMay } from "../../authorize/index.ts";
import type { Call, Context, Role } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import {
  type Approval,
  approvalSchema,
  type ChangePolicyInput,
  changePolicySchema,
  defaultPolicy,
  type ReleasePolicy,
} from "./gradual-release.schema.ts";

export async function readPolicy(db: Database | Transaction, projectId: string): Promise<ReleasePolicy> {
  const [row] = await db.select().from(releasePolicy).where(eq(releasePolicy.projectId, projectId));
  if (!row) return defaultPolicy;
  const { projectId: _, updatedAt: __, approval, ...band } = row;
  // One of a later version is at least as strict.
  return { ...band, approval: approvalSchema.catch("owner").parse(approval) };
}

/** How a server's deployments get into production (CAP-8). @throws TowpathError `not_found` for a project of others */
export async function getReleasePolicy({ ctx, input }: Call<ProjectScope>): Promise<ReleasePolicy> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  return readPolicy(ctx.db, project.id);
}

/**
 * Changes it; absent fields stay as they are. A release that runs keeps the band that it began with. Who approves is
 * decided by those who may approve: admins, and owners where only they may.
 *
 * @throws TowpathError `invalid_input`; `forbidden` for a change of the approval by others; `not_found`
 */
export async function saveReleasePolicy(call: Call<ProjectScope & ChangePolicyInput>): Promise<ReleasePolicy> {
  const { ctx } = call;
  const { project, organization, role } = await authorizeProject(ctx, "project.update", call.input);
  if (project.kind !== "hosted") throw notHosted();
  const given = parseInput(changePolicySchema, call.input);
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return ctx.db.transaction(async (tx) => {
    // A policy that isn't stored has no row to lock.
    await tx.select({ id: projectTable.id }).from(projectTable).where(eq(projectTable.id, project.id)).for("update");
    const before = await readPolicy(tx, project.id);
    const after: ReleasePolicy = { ...before, ...changes };
    if (after.approval !== before.approval) requireApprover(ctx, role, whoDecides(before.approval, after.approval));
    const values = { ...after, updatedAt: ctx.clock.now() };
    await tx
      .insert(releasePolicy)
      .values({ projectId: project.id, ...values })
      .onConflictDoUpdate({ target: releasePolicy.projectId, set: values });
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "releasePolicy.update",
      subject: project.name,
      detail: { before, after },
    });
    return after;
  });
}

/**
 * Requires that whoever acts approves deployments, where these wait for `approval`. A key of the organization doesn't,
 * though it acts as an admin: no person answers for it.
 *
 * @throws TowpathError `forbidden`; `text`: for roles below
 */
export function requireApprover(
  ctx: Context,
  role: Role,
  { approval, text }: { approval: Approval; text: string },
): void {
  const isRole =
    approval === "owner"
      ? role === "owner"
      : roleMay(role, approval === "admin" ? "deployment.approve" : "build.start");
  if (!isRole) throw new TowpathError("forbidden", `Forbidden: ${text}`);
  if (approval !== "nobody" && isOrganizationKey(ctx))
    throw new TowpathError(
      "forbidden",
      "Forbidden: a person has to decide this. Use the dashboard or a personal API key in place of the organization's.",
    );
}

const whoDecides = (...approvals: readonly Approval[]) =>
  approvals.includes("owner")
    ? ({ approval: "owner", text: "only owners decide whether deployments wait for an owner's approval." } as const)
    : ({ approval: "admin", text: "only admins decide whether deployments wait for an approval." } as const);

const notHosted = () =>
  new TowpathError("invalid_input", "Only servers that Towpath builds are released. This one has no deployments.");
