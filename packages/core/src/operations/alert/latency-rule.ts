import { alertChannel, alertRule, project } from "@towpath/db/schema";
import { and, arrayContains, asc, eq, exists, isNull, or, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform, authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import { type AlertKind, type LatencyRule, latencyRuleSchema } from "./alert.schema.ts";
import { raiseAlert } from "./raise-alert.ts";

/** Of projects whose owners set nothing. */
const defaultRule: LatencyRule = { latencyMs: null, latencyFactor: 3 };
/** Fewer calls than these say little about a server. */
const minCalls = 50;
/** Calls that are fast anyway are not slow for being three times slower. */
const minMs = 100;
/** Slow calls end well below the limit, so that a server at the limit is not reported again and again. */
const endsBelow = 0.9;

/** When a server's calls are slow. */
export async function getLatencyRule({ ctx, input }: Call<ProjectScope>): Promise<LatencyRule> {
  const access = await authorizeProject(ctx, "project.read", input);
  return readRule(ctx, access.project.id);
}

/** Sets it. @throws TowpathError `forbidden` for a lower role, `invalid_input` */
export async function saveLatencyRule(call: Call<ProjectScope & LatencyRule>): Promise<LatencyRule> {
  const { ctx } = call;
  const access = await authorizeProject(ctx, "project.update", call.input);
  const rule = parseInput(latencyRuleSchema, call.input);
  await ctx.db.transaction(async (tx) => {
    const values = { projectId: access.project.id, ...rule, updatedAt: ctx.clock.now() };
    await tx.insert(alertRule).values(values).onConflictDoUpdate({ target: alertRule.projectId, set: values });
    await audit(tx, ctx, {
      organizationId: access.organization.id,
      projectId: access.project.id,
      action: "alertRule.update",
      subject: access.project.name,
      detail: rule,
    });
  });
  return rule;
}

async function readRule(ctx: Context, projectId: string): Promise<LatencyRule> {
  const { latencyMs, latencyFactor } = alertRule;
  const [row] = await ctx.db
    .select({ latencyMs, latencyFactor })
    .from(alertRule)
    .where(eq(alertRule.projectId, projectId));
  return row ?? defaultRule;
}

/** Projects of which some channel gets events of this kind, for the worker that looks for such. `isSlow`: its calls are. */
export async function listWatchedProjects({
  ctx,
  input,
}: Call<{ readonly kind: AlertKind }>): Promise<readonly { readonly id: string; readonly isSlow: boolean }[]> {
  authorizePlatform(ctx);
  const channel = ctx.db
    .select({ id: alertChannel.id })
    .from(alertChannel)
    .where(
      and(
        eq(alertChannel.organizationId, project.organizationId),
        isNull(alertChannel.disabledFor),
        arrayContains(alertChannel.events, [input.kind]),
        or(isNull(alertChannel.projectIds), sql`${project.id} = ANY(${alertChannel.projectIds})`),
      ),
    );
  const rows = await ctx.db
    .select({ id: project.id, slowSince: alertRule.slowSince })
    .from(project)
    .leftJoin(alertRule, eq(alertRule.projectId, project.id))
    .where(exists(channel))
    .orderBy(asc(project.id));
  return rows.map(({ id, slowSince }) => ({ id, isSlow: slowSince !== null }));
}

/** Calls in a period, and the duration that 95 % of them did not exceed; null without calls. */
type Measured = { readonly calls: number; readonly p95Ms: number | null };

/**
 * Compares a project's calls of the last 15 minutes with its rule and with the week before; raises an alert when they
 * have become slow, and when that ends. Returns which of both has happened.
 */
export async function recordLatency({
  ctx,
  input,
}: Call<{ readonly projectId: string; readonly now: Measured; readonly before: Measured }>): Promise<
  "slow" | "normal" | null
> {
  authorizePlatform(ctx);
  const { projectId, now: recent, before } = input;
  const at = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    // Without a row there is nothing to lock.
    await tx
      .insert(alertRule)
      .values({ projectId, ...defaultRule, updatedAt: at })
      .onConflictDoNothing();
    const [row] = await tx.select().from(alertRule).where(eq(alertRule.projectId, projectId)).for("update");
    if (!row) return null;
    const usualMs = before.calls >= minCalls ? before.p95Ms : null;
    const maxMs = limitOf(row, usualMs);
    const { calls, p95Ms } = recent;
    const since = row.slowSince?.toISOString();
    if (since === undefined) {
      if (maxMs === null || p95Ms === null || calls < minCalls || p95Ms <= maxMs) return null;
      await tx.update(alertRule).set({ slowSince: at }).where(eq(alertRule.projectId, projectId));
      const event = { kind: "latency.band", projectId, since: at.toISOString(), p95Ms, maxMs, usualMs, calls } as const;
      await raiseAlert(tx, event, at);
      return "slow";
    }
    // With few calls nothing is known: only none at all is an end.
    const isOver = calls === 0 || maxMs === null || (calls >= minCalls && (p95Ms ?? 0) <= maxMs * endsBelow);
    if (!isOver) return null;
    await tx.update(alertRule).set({ slowSince: null }).where(eq(alertRule.projectId, projectId));
    await raiseAlert(tx, { kind: "latency.normal", projectId, since, p95Ms, maxMs }, at);
    return "normal";
  });
}

/** The lower of both limits; null: there is none. Pure. */
function limitOf({ latencyMs, latencyFactor }: LatencyRule, usualMs: number | null): number | null {
  const byWeek = latencyFactor === null || usualMs === null ? null : Math.max(minMs, latencyFactor * usualMs);
  return latencyMs === null ? byWeek : byWeek === null ? latencyMs : Math.min(latencyMs, byWeek);
}
