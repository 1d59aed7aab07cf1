import { foldRequestLogs, projectOverview, queryRequestLogs, serversActivity, writeRequestLogs } from "@towpath/logs";
import { deploymentId, projectId, requestLogRow } from "@towpath/logs/testing";

/** Queries of a project's overview, and of the list of an organization with 500 servers. */
export async function overviewQueries(
  pool: Parameters<typeof writeRequestLogs>[0],
  now: Date,
): Promise<Record<string, () => Promise<unknown>>> {
  const servers = Array.from(
    { length: 499 },
    (_, at) => `0192a000-0000-7000-8000-0000001${String(at).padStart(5, "0")}`,
  );
  const calls = servers.flatMap((server, at) =>
    Array.from({ length: 200 }, (_, call) =>
      requestLogRow({
        projectId: server,
        deploymentId: server,
        target: `tool_${call % 8}`,
        session: `s${call % 20}`,
        time: now.getTime() - ((call * 997 + at * 31) % 1800) * 60_000,
        isError: call % 40 === 0,
        ...(call % 40 === 0 && { outcome: "tool_error" as const }),
      }),
    ),
  );
  // A kept directory has them.
  const { rowCount } = await pool.query("SELECT FROM request_log WHERE project_id = $1 LIMIT 1", [servers[0]]);
  for (let at = 0; rowCount === 0 && at < calls.length; at += 5000)
    await writeRequestLogs(pool, calls.slice(at, at + 5000));
  while ((await foldRequestLogs(pool)) > 0);
  await pool.query("ANALYZE");
  const live = [deploymentId(5)];
  return {
    overview: () => projectOverview(pool, { projectId }, now.getTime()),
    "overview of a branch": () => projectOverview(pool, { projectId, deploymentIds: live }, now.getTime()),
    "overview: failures": () =>
      queryRequestLogs(pool, { projectId, isError: true, limit: 50, startDate: dayBefore(now) }),
    "list of 500 servers": () => serversActivity(pool, [projectId, ...servers], now.getTime()),
  };
}

const dayBefore = (now: Date) => new Date(now.getTime() - 86_400_000);
