import { errorGroup } from "@towpath/db/schema";
import { and, asc, count, desc, eq, gte, isNotNull, or, type SQL, sql } from "drizzle-orm";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import {
  type ErrorDetail,
  type ErrorListInput,
  type ErrorPage,
  type ErrorSummary,
  errorListSchema,
} from "./error-group.schema.ts";
import { dayMs, hourMs, readCourses, requireGroup } from "./error-group.store.ts";
import { errorDetail, errorSummary } from "./error-group.view.ts";

const maxTools = 100;
const hoursOfDay = { periodMs: hourMs, count: 24 };
const orders = { lastSeen: errorGroup.lastSeen, firstSeen: errorGroup.firstSeen, count: errorGroup.count };

/** The errors of a project: failed calls by cause (CAP-6). */
export async function listErrorGroups({ ctx, input }: Call<ProjectScope & ErrorListInput>): Promise<ErrorPage> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const { state, tool, search, sort, limit, offset } = parseInput(errorListSchema, input);
  const own = eq(errorGroup.projectId, project.id);
  const matching = and(own, tool === undefined ? undefined : eq(errorGroup.target, tool), withText(search));
  const [rows, states, tools] = await Promise.all([
    ctx.db
      .select()
      .from(errorGroup)
      .where(and(matching, state === "all" ? undefined : eq(errorGroup.state, state)))
      .orderBy(desc(orders[sort]), desc(errorGroup.id))
      .limit(limit)
      .offset(offset),
    ctx.db
      .select({ state: errorGroup.state, groups: count() })
      .from(errorGroup)
      .where(matching)
      .groupBy(errorGroup.state),
    ctx.db
      .selectDistinct({ target: errorGroup.target })
      .from(errorGroup)
      .where(and(own, isNotNull(errorGroup.target)))
      .orderBy(asc(errorGroup.target))
      .limit(maxTools),
  ]);
  const courses = await readCourses(
    ctx.db,
    rows.map(({ id }) => id),
    { ...hoursOfDay, now: ctx.clock.now() },
  );
  const countOf = (asked: string) => states.find((each) => each.state === asked)?.groups ?? 0;
  const counts = { open: countOf("open"), resolved: countOf("resolved"), ignored: countOf("ignored") };
  return {
    data: rows.map((row) => errorSummary(row, courses(row.id))),
    total: state === "all" ? counts.open + counts.resolved + counts.ignored : counts[state],
    counts,
    tools: tools.flatMap(({ target }) => target ?? []),
  };
}

function withText(search: string | undefined): SQL | undefined {
  const text = search?.trim().toLowerCase();
  if (!text) return undefined;
  const columns = [errorGroup.title, errorGroup.target, errorGroup.method, errorGroup.file, errorGroup.functionName];
  return or(...columns.map((column) => sql`strpos(lower(${column}), ${text}) > 0`));
}

/** @throws TowpathError `not_found` */
export async function getErrorGroup({
  ctx,
  input,
}: Call<ProjectScope & { readonly errorId: string }>): Promise<ErrorDetail> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const row = await requireGroup(ctx.db, project.id, input.errorId);
  const now = ctx.clock.now();
  const [hours, days] = await Promise.all([
    readCourses(ctx.db, [row.id], { ...hoursOfDay, now }),
    readCourses(ctx.db, [row.id], { periodMs: dayMs, count: 30, now }),
  ]);
  return errorDetail(row, hours(row.id), days(row.id));
}

/** What is wrong now: open errors that were new, or came back, in the last 24 hours, latest first. */
export type RecentErrors = { readonly total: number; readonly data: readonly ErrorSummary[] };

const maxRecent = 3;

/** The latest three of `RecentErrors`. */
export async function listRecentErrors({ ctx, input }: Call<ProjectScope>): Promise<RecentErrors> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const now = ctx.clock.now();
  const recent = and(
    eq(errorGroup.projectId, project.id),
    eq(errorGroup.state, "open"),
    gte(errorGroup.openedAt, new Date(now.getTime() - dayMs)),
  );
  const [rows, total] = await Promise.all([
    ctx.db
      .select()
      .from(errorGroup)
      .where(recent)
      .orderBy(desc(errorGroup.openedAt), desc(errorGroup.id))
      .limit(maxRecent),
    ctx.db.$count(errorGroup, recent),
  ]);
  const courses = await readCourses(
    ctx.db,
    rows.map(({ id }) => id),
    { ...hoursOfDay, now },
  );
  return { total, data: rows.map((row) => errorSummary(row, courses(row.id))) };
}
