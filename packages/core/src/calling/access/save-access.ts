import type { Transaction } from "@towpath/db";
import { accessPolicy, project as projectTable } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { type AccessInput, accessSchema, type InitialAccess } from "./access.schema.ts";
import { hasDefaultRoles, listKeys, liveTools, type Policy, readPolicy } from "./access.store.ts";
import { type AccessView, accessView } from "./access.view.ts";

/**
 * Sets who may call a server, and which of its tools (GW-15). Gateways are notified; open streams of callers who are left
 * out now end within seconds.
 *
 * @throws TowpathError `conflict` when somebody else has changed it since `revision`, `invalid_input` for a key that the
 * organization doesn't have
 */
export async function saveAccess(call: Call<ProjectScope & AccessInput>): Promise<AccessView> {
  const { ctx } = call;
  const { project } = await authorizeProject(ctx, "access.manage", call.input);
  const { revision, ...chosen } = parseInput(accessSchema, call.input);
  const policy = await ctx.db.transaction(async (tx) => {
    // A policy that isn't stored has no row to lock.
    await tx.select({ id: projectTable.id }).from(projectTable).where(eq(projectTable.id, project.id)).for("update");
    const before = await readPolicy(tx, project.id);
    if (revision !== undefined && revision !== before.revision) throw changedMeanwhile();
    return change(tx, ctx, { project, before, chosen });
  });
  return accessView(ctx, policy, project);
}

/**
 * Sets it for a server in the transaction that makes it, so that it was never callable by others. The caller has checked
 * `access.manage`.
 *
 * @throws TowpathError `invalid_input` for a key that the organization doesn't have
 */
export async function storeInitialAccess(
  tx: Transaction,
  ctx: Context,
  project: Project,
  chosen: InitialAccess,
): Promise<void> {
  await change(tx, ctx, { project, before: await readPolicy(tx, project.id), chosen });
}

async function change(
  tx: Transaction,
  ctx: Context,
  { project, before, chosen }: { project: Project; before: Policy; chosen: InitialAccess },
): Promise<Policy> {
  const after: Policy = {
    roles: chosen.roles,
    apiKeyIds: chosen.apiKeys === "all" ? null : await ownKeys(tx, project, chosen.apiKeys),
    tools: chosen.tools === "all" ? null : [...new Set(chosen.tools)],
    knownTools: (await liveTools(tx, project))?.map(({ tool_name }) => tool_name) ?? [],
    revision: before.revision + 1,
  };
  await store(tx, { projectId: project.id, policy: after, now: ctx.clock.now() });
  await audit(tx, ctx, {
    organizationId: project.organizationId,
    projectId: project.id,
    action: "access.update",
    subject: project.name,
    detail: { before: described(before), after: described(after) },
  });
  return after;
}

async function store(
  tx: Transaction,
  { projectId, policy, now }: { projectId: string; policy: Policy; now: Date },
): Promise<void> {
  const values = {
    // Null follows the defaults of later versions.
    roles: hasDefaultRoles(policy.roles) ? null : [...policy.roles],
    apiKeyIds: policy.apiKeyIds && [...policy.apiKeyIds],
    tools: policy.tools && [...policy.tools],
    knownTools: [...policy.knownTools],
    revision: policy.revision,
    updatedAt: now,
  };
  await tx
    .insert(accessPolicy)
    .values({ projectId, ...values })
    .onConflictDoUpdate({ target: accessPolicy.projectId, set: values });
}

type Project = Parameters<typeof liveTools>[1] & { readonly organizationId: string; readonly name: string };

async function ownKeys(tx: Transaction, project: Project, ids: readonly string[]): Promise<string[]> {
  const own = new Set((await listKeys(tx, project)).map(({ id }) => id));
  if (ids.every((id) => own.has(id))) return [...new Set(ids)];
  const message = "One of these API keys was deleted or can't reach this server. Reload the page and choose again.";
  throw new TowpathError("invalid_input", message, { fields: { apiKeys: message } });
}

const changedMeanwhile = () =>
  new TowpathError(
    "conflict",
    "Someone else just changed who can call this server. Reload the page to see the change.",
  );

/** As the audit log keeps it. */
const described = ({ roles, apiKeyIds, tools }: Policy) => ({
  roles,
  apiKeys: apiKeyIds ?? "all",
  tools: tools ?? "all",
});
