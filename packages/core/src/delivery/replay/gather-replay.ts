import { branch, build, deployment, project, route, sampledCall, secretVersion } from "@towpath/db/schema";
import type { SampledCall } from "@towpath/replay";
import { chooseCalls } from "@towpath/replay";
import { and, eq, gt, inArray } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import type { ReplaySetting } from "../../projects/project/replay.schema.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import { readManifest } from "../build/internal.ts";
import type { ReplayRow } from "./replay.view.ts";

/** A version that callers reach now. */
export type LiveVersion = {
  readonly deploymentId: string;
  readonly url: string;
  readonly authMode: string;
  readonly build: typeof build.$inferSelect;
};

/** What is live on a branch; null: on the default one. */
export async function readLive(ctx: Context, projectId: string, branchId: string | null): Promise<LiveVersion | null> {
  const [row] = await ctx.db
    .select({ build, label: route.label, deploymentId: deployment.id, authMode: project.authMode })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, route.branchId))
    .innerJoin(project, eq(project.id, route.projectId))
    .where(
      and(eq(route.projectId, projectId), branchId === null ? eq(branch.isDefault, true) : eq(branch.id, branchId)),
    );
  return row ? { ...row, url: mcpUrl(ctx.serverUrlTemplate, row.label) } : null;
}

/** The calls to replay, and what is to be reported of those that are not. */
export async function chooseSample(
  ctx: Context<"secrets">,
  { projectId }: ReplayRow,
  { production, preview, setting }: { production: LiveVersion; preview: LiveVersion; setting: ReplaySetting },
): Promise<{ readonly calls: readonly SampledCall[]; readonly remarks: readonly string[] }> {
  const rows = await ctx.db
    .select()
    .from(sampledCall)
    .where(and(eq(sampledCall.projectId, projectId), gt(sampledCall.expiresAt, ctx.clock.now())));
  const [before, after] = [hintsOf(production), hintsOf(preview)];
  const mayRun = (tool: string) => setting.tools.includes(tool) || before.get(tool)?.readOnlyHint === true;
  // A preview may have made of a tool what changes something.
  const writesNow = (tool: string) =>
    !setting.tools.includes(tool) && after.has(tool) && after.get(tool)?.readOnlyHint !== true;
  const opened = rows.flatMap((row) => {
    const text = mayRun(row.tool) ? ctx.secrets.replays.open(row, row.sealed) : null;
    return text === null ? [] : [{ ...row, arguments: JSON.parse(text), at: row.sampledAt.getTime() }];
  });
  const calls = chooseCalls(
    opened.filter(({ tool }) => !writesNow(tool)),
    setting.calls,
  );
  const written = [...new Set(opened.map(({ tool }) => tool).filter(writesNow))];
  const remarks = written.map(
    (tool) => `Calls of ${tool} were not replayed: the preview doesn't mark the tool as read-only any more.`,
  );
  if (calls.length === 0) remarks.unshift(noCalls);
  return { calls: calls.map(({ id, tool, arguments: given }) => ({ id, tool, arguments: given })), remarks };
}

const noCalls =
  "No calls are sampled yet: Towpath samples those of read-only tools, and of tools that the settings name, as production gets them.";

type Hints = { readonly readOnlyHint?: unknown };

const hintsOf = ({ build: { manifest } }: LiveVersion): ReadonlyMap<string, Hints | null> =>
  new Map(readManifest(manifest)?.tools.map(({ tool_name, annotations }) => [tool_name, annotations as Hints | null]));

/** A sentence about variables that both versions don't have alike: differences may come from these; null: none. */
export async function variablesRemark(ctx: Context, one: LiveVersion, other: LiveVersion): Promise<string | null> {
  const ids = [one, other].map(({ build: of }) => of.secretVersionIds ?? []);
  if (ids.flat().length === 0) return null;
  const rows = await ctx.db
    .select({ id: secretVersion.id, name: secretVersion.keyName })
    .from(secretVersion)
    .where(inArray(secretVersion.id, ids.flat()));
  const differing = rows.filter(({ id }) => !ids.every((of) => of.includes(id)));
  const names = [...new Set(differing.map(({ name }) => name))].toSorted();
  if (names.length === 0) return null;
  const shown = names.slice(0, maxNames).join(", ");
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : "";
  return `The preview has other environment variables than production (${shown}${more}): differences may come from these.`;
}

const maxNames = 5;
