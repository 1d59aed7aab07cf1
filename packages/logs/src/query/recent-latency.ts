import { Conditions } from "./conditions.ts";
import { type Figure, figuresOf, percentilesOf } from "./figures.ts";
import { logQuerySchema } from "./log-query.schema.ts";
import { isUse } from "./overview/use-condition.ts";
import type { Reader } from "./reader.ts";
import { floorToMinute, hourly, lengthOf, minuteMs, openEnd, spansOf } from "./spans.ts";
import { sumsSql } from "./sums.ts";

const recentMs = 15 * minuteMs;
const weekMs = 7 * 24 * 60 * minuteMs;

/** Calls, and the duration that 95 % of them did not exceed, within 6 %; null without calls. */
type Latency = { readonly calls: number; readonly p95Ms: number | null };

/**
 * A project's calls of the last 15 minutes, and of the week before the current hour, from the roll-ups. Calls are
 * defined as in `projectOverview`.
 */
export async function recentLatency(
  reader: Reader,
  projectId: string,
  now = Date.now(),
): Promise<{ readonly now: Latency; readonly before: Latency }> {
  const conditions = new Conditions();
  const cut = floorToMinute(now - recentMs);
  // Whole hours need few rows.
  const hour = Math.floor(cut / lengthOf(hourly)) * lengthOf(hourly);
  const spans = [...spansOf(hour - weekMs, hour), ...spansOf(cut, openEnd(now), 0)];
  const sums = sumsSql(logQuerySchema.parse({ projectId }), conditions, spans, isUse);
  const cells = `SELECT *, time >= ${conditions.value(new Date(cut))} AS recent FROM (${sums}) AS sums`;
  const { part } = await figuresOf(reader, { cells, conditions }, { part: { by: "recent", hasLatency: true } });
  const of = (isRecent: boolean) => latencyOf(part.find(({ key }) => key === String(isRecent)));
  return { now: of(true), before: of(false) };
}

const latencyOf = (figure: Figure | undefined): Latency => ({
  calls: figure?.calls ?? 0,
  p95Ms: percentilesOf(figure).p95Ms,
});

/** Those of the projects with a call in the last 15 minutes, of any kind. */
export async function recentlyCalled(
  reader: Reader,
  projectIds: readonly string[],
  now = Date.now(),
): Promise<readonly string[]> {
  const { rows } = await reader.query<{ id: string }>(
    `SELECT id FROM unnest($1::uuid[]) AS p (id) WHERE EXISTS (
       SELECT FROM request_log_series s WHERE s.project_id = p.id AND s.last_seen >= $2)`,
    [projectIds, new Date(now - recentMs)],
  );
  return rows.map(({ id }) => id);
}
