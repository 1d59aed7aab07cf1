import { workloadIdentity } from "@towpath/db/schema";
import { and, count, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { type CreateWorkloadIdentityInput, createWorkloadIdentitySchema } from "./workload-identity.schema.ts";
import {
  requireWorkloadIdentity,
  serversOf,
  type WorkloadIdentityView,
  workloadIdentityViews,
} from "./workload-identity.store.ts";

/** Each of one issuer is looked at when its token comes. */
const maxIdentities = 100;

/**
 * Lets workloads call the organization's servers with tokens of their issuer, such as a cluster's service accounts
 * (KEY-6), once the issuer's keys were read.
 *
 * @throws TowpathError `forbidden` for a lower role; `invalid_input`, also when the keys can't be read
 */
export async function createWorkloadIdentity(
  call: Call<CreateWorkloadIdentityInput, "readIssuerKeys">,
): Promise<WorkloadIdentityView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "workload.manage", { orgSlug: call.input.orgSlug });
  const { projectIds, ...input } = parseInput(createWorkloadIdentitySchema, call.input);
  if (new URL(input.issuer).origin === new URL(ctx.dashboardUrl).origin)
    throw invalid("issuer", "This instance itself is no issuer of workloads' tokens.");
  await ctx.readIssuerKeys(input).catch((error: Error) => {
    throw invalid(input.keySet === null ? "issuer" : "keySet", error.message);
  });
  const [id, now] = [newId(), ctx.clock.now()];
  return ctx.db.transaction(async (tx) => {
    const servers = projectIds && (await serversOf(tx, organization.id, projectIds));
    if (servers && servers.length !== projectIds?.length)
      throw invalid("projectIds", "One of the servers does not exist. Reload the page and choose again.");
    const ofOrganization = eq(workloadIdentity.organizationId, organization.id);
    const [found] = await tx.select({ count: count() }).from(workloadIdentity).where(ofOrganization);
    if (found && found.count >= maxIdentities)
      throw invalid("name", `An organization has at most ${maxIdentities} workload identities. Delete one first.`);
    const createdByUserId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
    const row = { ...input, id, projectIds, createdByUserId, createdAt: now, updatedAt: now };
    await tx.insert(workloadIdentity).values({ ...row, organizationId: organization.id });
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "workloadIdentity.create",
      subject: id,
      detail: {
        name: input.name,
        issuer: input.issuer,
        subjects: input.subjects,
        servers: servers?.map((each) => each.name) ?? "all",
      },
    });
    return requireWorkloadIdentity(tx, { organizationId: organization.id, id });
  });
}

/** The organization's workload identities, newest first, including revoked ones. */
export async function listWorkloadIdentities({
  ctx,
  input,
}: Call<{ readonly orgSlug: string }>): Promise<readonly WorkloadIdentityView[]> {
  const { organization } = await authorize(ctx, "workload.read", { orgSlug: input.orgSlug });
  return workloadIdentityViews(ctx.db, organization.id);
}

type IdentityInput = { readonly orgSlug: string; readonly identityId: string };

/** Ends it immediately and permanently, with its open streams; it stays in the list. Idempotent. */
export async function revokeWorkloadIdentity({ ctx, input }: Call<IdentityInput>): Promise<WorkloadIdentityView> {
  const { identity, condition, organizationId } = await found(ctx, input);
  return ctx.db.transaction(async (tx) => {
    await tx.update(workloadIdentity).set({ enabled: false, updatedAt: ctx.clock.now() }).where(condition);
    const { id: subject, name } = identity;
    await audit(tx, ctx, { organizationId, action: "workloadIdentity.revoke", subject, detail: { name } });
    return requireWorkloadIdentity(tx, { organizationId, id: identity.id });
  });
}

/** Deletes it; it ends immediately. */
export async function deleteWorkloadIdentity({ ctx, input }: Call<IdentityInput>): Promise<{ readonly id: string }> {
  const { identity, condition, organizationId } = await found(ctx, input);
  const { id, name } = identity;
  await ctx.db.transaction(async (tx) => {
    await tx.delete(workloadIdentity).where(condition);
    await audit(tx, ctx, { organizationId, action: "workloadIdentity.delete", subject: id, detail: { name } });
  });
  return { id };
}

/** @throws TowpathError `not_found`, `forbidden` for a lower role */
async function found(ctx: Context, { orgSlug, identityId }: IdentityInput) {
  const { organization } = await authorize(ctx, "workload.manage", { orgSlug });
  const organizationId = organization.id;
  const identity = await requireWorkloadIdentity(ctx.db, { organizationId, id: identityId });
  const condition = and(eq(workloadIdentity.organizationId, organizationId), eq(workloadIdentity.id, identity.id));
  return { identity, condition, organizationId };
}

const invalid = (field: string, message: string) =>
  new TowpathError("invalid_input", message, { fields: { [field]: message } });
