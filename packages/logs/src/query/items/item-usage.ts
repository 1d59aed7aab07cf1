import { Conditions, ofSeries, periodOf, scopeCondition } from "../conditions.ts";
import { courseLevel, courseOf, courseStep, stepSql } from "../course.ts";
import { figuresOf, percentilesOf } from "../figures.ts";
import { logQuerySchema, type TimeRange } from "../log-query.schema.ts";
import type { Reader } from "../reader.ts";
import { floorToMinute, spansOf } from "../spans.ts";
import { sumsSql } from "../sums.ts";
import { uriTemplatePattern } from "./uri-template-pattern.ts";

/** Kinds of items, by the method that uses them. */
const itemMethods = {
  tool: "tools/call",
  resource: "resources/read",
  template: "resources/read",
  prompt: "prompts/get",
} as const;
type ItemKind = keyof typeof itemMethods;

/** Durations in milliseconds, within 6 %; null without calls. */
type ItemUsage = {
  calls: number;
  errors: number;
  p50Ms: number | null;
  p95Ms: number | null;
  /** Calls over the range, oldest first. */
  course: readonly number[];
};

const maxItems = 1000;

/**
 * How often each item of a kind was used in the range, by name: tool, URI, prompt (LOG-1). For templates, reads of the
 * URIs that match each of `templates`, except `exceptTargets`, which are resources of their own.
 */
export async function itemUsage(
  reader: Reader,
  input: {
    readonly projectId: string;
    readonly kind: ItemKind;
    readonly timeRange: TimeRange;
    readonly templates?: readonly string[];
    readonly exceptTargets?: readonly string[];
  },
): Promise<ReadonlyMap<string, ItemUsage>> {
  const { projectId, kind, timeRange, templates = [], exceptTargets = [] } = input;
  const now = Date.now();
  const query = logQuerySchema.parse({ projectId, timeRange });
  const conditions = new Conditions();
  const method = conditions.value(itemMethods[kind]);
  const stepMs = courseStep(timeRange);
  const { from, to } = periodOf(query, now);
  const spans = spansOf(floorToMinute(from), to, courseLevel(timeRange));
  const sums = sumsSql(
    query,
    conditions,
    spans,
    (alias) => `${scopeCondition(query, conditions, ofSeries(alias))} AND ${alias}.method = ${method}
      AND ${alias}.target IS NOT NULL AND ${alias}.class < 2`,
  );
  const named =
    kind === "template"
      ? `SELECT t.name, s.* FROM (${sums}) AS s
         JOIN unnest(${conditions.value(templates)}::text[], ${conditions.value(templates.map(uriTemplatePattern))}::text[])
           AS t (name, pattern) ON s.target ~ t.pattern AND s.target <> ALL(${conditions.value(exceptTargets)}::text[])`
      : `SELECT target AS name, s.* FROM (${sums}) AS s`;
  const { item, step } = await figuresOf(
    reader,
    { cells: named, conditions },
    {
      item: { by: "name", max: maxItems, hasLatency: true },
      step: { by: `${stepSql("time", stepMs)} || ' ' || name` },
    },
  );
  const steps = Map.groupBy(
    step.map(({ key, calls }) => {
      const space = key.indexOf(" ");
      return { step: Number(key.slice(0, space)), name: key.slice(space + 1), calls };
    }),
    ({ name }) => name,
  );
  return new Map(
    item.map((figure) => {
      const course = courseOf(steps.get(figure.key) ?? [], { timeRange, stepMs, now });
      return [figure.key, { calls: figure.calls, errors: figure.errors, ...percentilesOf(figure), course }];
    }),
  );
}
