import { Conditions } from "../conditions.ts";
import { type Figure, figuresOf, percentilesOf } from "../figures.ts";
import { logQuerySchema } from "../log-query.schema.ts";
import type { Reader } from "../reader.ts";
import { floorToMinute, hourly, minuteMs, openEnd, spansOf } from "../spans.ts";
import { sumsSql } from "../sums.ts";
import type { OverviewInput, ProjectOverview, Traffic } from "./overview.schema.ts";
import { type Callers, readCallers } from "./read-callers.ts";
import { isUse } from "./use-condition.ts";

const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const maxTools = 6;

/**
 * A project's usage in the last 24 hours and in the 24 hours before (PRJ-19). A call is a message that used a tool, a
 * resource or a prompt, or that failed; refused ones don't count. Read from the roll-ups: minutes count whole, and
 * percentiles are within 6 %. Callers are not known by deployment. The caller has checked access to the project.
 */
export async function projectOverview(
  reader: Reader,
  input: OverviewInput,
  now = Date.now(),
): Promise<ProjectOverview> {
  const { projectId, deploymentIds } = input;
  const cut = floorToMinute(now - dayMs);
  const [figures, lastCall, callers] = await Promise.all([
    readFigures(reader, input, cut, now),
    readLastCall(reader, input),
    deploymentIds ? null : readCallers(reader, { projectId, from: new Date(cut - dayMs), cut: new Date(cut) }),
  ]);
  const half = (isCurrent: boolean) => figures.half.find(({ key }) => key === String(isCurrent));
  return {
    now: new Date(now).toISOString(),
    from: new Date(cut).toISOString(),
    current: trafficOf(half(true), callers?.current ?? null),
    previous: trafficOf(half(false), callers?.previous ?? null),
    lastCall: lastCall?.toISOString() ?? null,
    hours: hoursOf(figures.hour, callers, cut, now),
    tools: figures.tool.map((tool) => ({
      tool: tool.key,
      calls: tool.calls,
      errors: tool.errors,
      p95Ms: percentilesOf(tool).p95Ms,
    })),
  };
}

function readFigures(reader: Reader, { projectId, deploymentIds }: OverviewInput, cut: number, now: number) {
  const conditions = new Conditions();
  const spans = [...spansOf(cut - dayMs, cut), ...spansOf(cut, openEnd(now), hourly)];
  const deployments = deploymentIds ? conditions.value(deploymentIds) : null;
  const sums = sumsSql(logQuerySchema.parse({ projectId }), conditions, spans, (alias) =>
    [isUse(alias), ...(deployments ? [`${alias}.deployment_id = ANY(${deployments}::uuid[])`] : [])].join(" AND "),
  );
  const cells = `SELECT *, time >= ${conditions.value(new Date(cut))} AS current FROM (${sums}) AS sums`;
  return figuresOf(
    reader,
    { cells, conditions },
    {
      half: { by: "current", hasLatency: true },
      hour: { by: "floor(date_part('epoch', time) / 3600)", where: "current", hasLatency: true },
      tool: {
        by: "target",
        where: "current AND method = 'tools/call' AND target IS NOT NULL",
        max: maxTools,
        hasLatency: true,
      },
    },
  );
}

/** Up to the last fold, some seconds ago. */
async function readLastCall(reader: Reader, { projectId, deploymentIds }: OverviewInput): Promise<Date | null> {
  const { rows } = await reader.query<{ at: Date | null }>(
    `SELECT max(last_seen) AS at FROM request_log_series AS s
     WHERE project_id = $1 AND ($2::uuid[] IS NULL OR deployment_id = ANY($2::uuid[])) AND ${isUse("s")}`,
    [projectId, deploymentIds ?? null],
  );
  return rows[0]?.at ?? null;
}

const trafficOf = (figure: Figure | undefined, callers: number | null): Traffic => ({
  calls: figure?.calls ?? 0,
  errors: figure?.errors ?? 0,
  ...percentilesOf(figure),
  callers,
});

/** The hours from that of `cut` to now, including those without calls. */
function hoursOf(figures: readonly Figure[], callers: Callers | null, cut: number, now: number) {
  const found = new Map(figures.map((each) => [Number(each.key), each]));
  const hours: ProjectOverview["hours"] = [];
  const last = Math.max(Math.floor(now / hourMs), ...found.keys());
  for (let hour = Math.floor(cut / hourMs); hour <= last; hour++) {
    const traffic = trafficOf(found.get(hour), callers ? (callers.byHour.get(hour) ?? 0) : null);
    hours.push({ start: new Date(hour * hourMs).toISOString(), ...traffic });
  }
  return hours;
}
