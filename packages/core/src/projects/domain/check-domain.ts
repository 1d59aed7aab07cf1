import type { Transaction } from "@towpath/db";
import { domain, project } from "@towpath/db/schema";
import { and, asc, eq, isNotNull, lte, ne } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform, authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import { domainSchema } from "./domain.schema.ts";
import { type DomainRow, requireDomain } from "./domain.store.ts";
import { type DomainView, domainView, hostOf, ownershipValue } from "./domain.view.ts";
import { type LookedUp, lookUp } from "./look-up.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** An active domain ends when its record was missing for so long. */
const endsAfterMs = 7 * dayMs;

/** Often while somebody waits for it. */
function nextCheckMs({ activeAt, createdAt }: DomainRow, now: Date): number {
  if (activeAt !== null) return 6 * 60 * minuteMs;
  return now.getTime() - createdAt.getTime() < dayMs ? minuteMs : 60 * minuteMs;
}

type Owner = Pick<typeof project.$inferSelect, "id" | "name" | "organizationId">;

/**
 * Looks up the DNS records of a domain now (OPS-12). It leads to the server from the moment that the one with its token
 * is seen.
 *
 * @throws TowpathError `not_found` for one that the server doesn't have
 */
export async function checkDomain({
  ctx,
  input,
}: Call<ProjectScope & { readonly domain: string }, "domainNames">): Promise<DomainView> {
  const { project: found } = await authorizeProject(ctx, "project.update", input);
  const { domain: name } = parseInput(domainSchema, input);
  const row = await requireDomain(ctx.db, found.id, name);
  await check(ctx, row, found);
  return domainView(await requireDomain(ctx.db, found.id, name), ctx.serverUrlTemplate, found.name);
}

/** Looks up the domains that are due, a few in a round; for the worker. Returns how many there were. */
export async function checkDueDomains({
  ctx,
  input,
}: Call<{ readonly limit: number }, "domainNames">): Promise<number> {
  authorizePlatform(ctx);
  const due = await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const rows = await tx
      .select({ row: domain, owner: project })
      .from(domain)
      .innerJoin(project, eq(project.id, domain.projectId))
      .where(lte(domain.nextCheckAt, now))
      .orderBy(asc(domain.nextCheckAt))
      .limit(input.limit)
      // Other workers take others.
      .for("update", { of: domain, skipLocked: true });
    for (const { row } of rows)
      await tx
        .update(domain)
        .set({ nextCheckAt: new Date(now.getTime() + nextCheckMs(row, now)) })
        .where(eq(domain.id, row.id));
    return rows;
  });
  await Promise.all(due.map(({ row, owner }) => check(ctx, row, owner)));
  return due.length;
}

async function check(ctx: Context<"domainNames">, row: DomainRow, owner: Owner): Promise<void> {
  const host = hostOf(ctx.serverUrlTemplate, owner.name);
  const found = await lookUp(ctx.domainNames, { name: row.name, value: ownershipValue(row), host });
  await ctx.db.transaction(async (tx) => {
    // Whoever shows the record first gets the name.
    const ofName = await tx
      .select()
      .from(domain)
      .where(eq(domain.name, row.name))
      .orderBy(asc(domain.id))
      .for("update");
    const current = ofName.find(({ id }) => id === row.id);
    if (current) await store(tx, ctx, { current, owner, found });
  });
}

type Checked = { readonly current: DomainRow; readonly owner: Owner; readonly found: LookedUp };

async function store(tx: Transaction, ctx: Context, { current, owner, found }: Checked): Promise<void> {
  const now = ctx.clock.now();
  const { ownership, address } = found;
  const isTaken =
    ownership.problem === null && current.activeAt === null && !(await takeOver(tx, ctx, { current, found }));
  const taken = "Another server of this instance has this domain. Remove it there first.";
  const ownershipSeenAt = ownership.problem === null ? now : current.ownershipSeenAt;
  const activeAt = isTaken ? null : nextActiveAt(current, found, now);
  await tx
    .update(domain)
    .set({
      // Gateways are notified of every update that names this column.
      ...(activeAt !== current.activeAt && { activeAt }),
      ownershipSeenAt,
      ownershipProblem: isTaken ? taken : ownership.problem,
      addressSeenAt: address.problem === null ? now : current.addressSeenAt,
      addressProblem: address.problem,
      checkedAt: now,
      nextCheckAt: new Date(now.getTime() + nextCheckMs({ ...current, activeAt }, now)),
    })
    .where(eq(domain.id, current.id));
  if ((activeAt === null) !== (current.activeAt === null))
    await auditChange(tx, ctx, { owner, name: current.name, isActive: activeAt !== null });
}

function auditChange(
  tx: Transaction,
  ctx: Context,
  { owner, name, isActive }: { readonly owner: Owner; readonly name: string; readonly isActive: boolean },
): Promise<void> {
  return audit(tx, ctx, {
    organizationId: owner.organizationId,
    projectId: owner.id,
    action: isActive ? "domain.activate" : "domain.end",
    subject: owner.name,
    detail: { domain: name },
  });
}

function nextActiveAt({ activeAt, ownershipSeenAt }: DomainRow, { ownership }: LookedUp, now: Date): Date | null {
  if (ownership.problem === null) return activeAt ?? now;
  if (activeAt === null || ownership.isUnknown) return activeAt;
  const missingMs = now.getTime() - (ownershipSeenAt ?? activeAt).getTime();
  return missingMs > endsAfterMs ? null : activeAt;
}

/**
 * Ends the name at another project whose record isn't among those that were just seen: it has another owner now. False
 * if it is.
 */
async function takeOver(
  tx: Transaction,
  ctx: Context,
  { current: { id, name }, found }: Pick<Checked, "current" | "found">,
): Promise<boolean> {
  const [holder] = await tx
    .select({ row: domain, owner: project })
    .from(domain)
    .innerJoin(project, eq(project.id, domain.projectId))
    .where(and(eq(domain.name, name), ne(domain.id, id), isNotNull(domain.activeAt)));
  if (!holder) return true;
  if (found.texts.includes(ownershipValue(holder.row))) return false;
  await tx.update(domain).set({ activeAt: null }).where(eq(domain.id, holder.row.id));
  await auditChange(tx, ctx, { owner: holder.owner, name, isActive: false });
  return true;
}
