import type { Context } from "@towpath/core/context";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import { type DeployedCommit, listRecentDeployments } from "@towpath/core/delivery/deployment";
import { itemUsage, listSessions, listUsers, requestLogStats } from "@towpath/logs";
import type { TimeRange } from "@towpath/logs/schema";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { namePrincipals } from "~/features/shared/log-stream/name-principals.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import type { LogValue, LogValues } from "./query-bar/completions.ts";

const maxValues = 50;

/**
 * The values that the rows of a time range have, most frequent or latest first, at most 50 of each kind; and the newest
 * deployments. The caller has checked access to the project.
 */
export async function logValues(
  ctx: Context,
  {
    key,
    projectId,
    timeRange,
  }: { readonly key: ProjectKey; readonly projectId: string; readonly timeRange: TimeRange },
): Promise<{ readonly values: LogValues; readonly deployments: readonly DeployedCommit[] }> {
  const query = { projectId, timeRange };
  const [deployments, [stats, resources, prompts, sessions, users]] = await Promise.all([
    listRecentDeployments({ ctx, input: key }),
    readRequestLogs((pool) =>
      Promise.all([
        requestLogStats(pool, query),
        itemUsage(pool, { ...query, kind: "resource" }),
        itemUsage(pool, { ...query, kind: "prompt" }),
        listSessions(pool, { ...query, limit: 100 }),
        listUsers(pool, { ...query, limit: maxValues }),
      ]),
    ),
  ]);
  const [namedSessions, namedUsers] = await Promise.all([
    namePrincipals(ctx, key.orgSlug, sessions.data.slice(0, maxValues)),
    namePrincipals(ctx, key.orgSlug, users.data),
  ]);
  const counted = (usage: ReadonlyMap<string, { readonly calls: number }>): LogValue[] =>
    [...usage].slice(0, maxValues).map(([value, { calls }]) => ({ value, calls }));
  return {
    deployments,
    values: {
      tool: stats.tools.map(({ tool, total }) => ({ value: tool, calls: total })),
      method: stats.methods.map(({ method, total }) => ({ value: method, calls: total })),
      resource: counted(resources),
      prompt: counted(prompts),
      client: clientsOf(sessions.data),
      user: namedUsers.map(({ principal, calls }) => ({
        value: principal.email ?? (principal.kind === "key" ? principal.name : principal.id),
        detail: principal.name,
        calls,
      })),
      session: namedSessions.flatMap(({ session, principal, clientName, calls }) =>
        session === null ? [] : [{ value: session, detail: clientName ?? principal.name, calls }],
      ),
      branch: [...new Set(deployments.map(({ branch }) => branch))].map((value) => ({ value })),
      deployment: deployments.map((deployed) => ({
        value: versionText(deployed),
        detail: `${deployed.branch} · ${deployed.commitMessage?.split("\n")[0] ?? ""}`,
      })),
    },
  };
}

/** The clients of the latest sessions. */
function clientsOf(sessions: readonly { readonly clientName: string | null; readonly calls: number }[]): LogValue[] {
  const calls = new Map<string, number>();
  for (const session of sessions)
    if (session.clientName !== null)
      calls.set(session.clientName, (calls.get(session.clientName) ?? 0) + session.calls);
  return [...calls].map(([value, count]) => ({ value, calls: count }));
}
