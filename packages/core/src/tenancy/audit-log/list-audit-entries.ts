import { apikey, auditLog, project, user } from "@towpath/db/schema";
import { and, desc, eq, gte, inArray, like, lt, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { isId, parseInput } from "../../input/index.ts";
import { displayNameOf } from "../organization/index.ts";
import { actionsOf, describeAction } from "./action-words.ts";
import {
  type AuditFilter,
  type AuditGroup,
  type AuditPageInput,
  auditFilterSchema,
  auditGroups,
  auditPageSchema,
} from "./audit-log.schema.ts";

/** Who did something. A former member keeps their name here: the log must say who it was. */
const auditActorSchema = z.object({
  /** As stored: `user:<id>`, `apiKey:<id>`, `operator` or `job:<name>`. */
  id: z.string(),
  kind: z.enum(["user", "apiKey", "operator", "towpath"]),
  name: z.string(),
  email: z.string().nullable(),
});
export type AuditActor = z.infer<typeof auditActorSchema>;

/** One change: who, what, when, from where (ORG-10). */
export const auditEntrySchema = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  actor: auditActorSchema,
  /** As stored, such as `member.remove`. */
  action: z.string(),
  /** Null for an action of a later version. */
  group: z.enum(Object.keys(auditGroups) as [AuditGroup]).nullable(),
  /** What was done, to be read after the actor's name. */
  text: z.string().describe("for people"),
  subject: z.string().nullable(),
  /** Null when it is about no server. */
  project: z.object({ id: z.uuid(), name: z.string().nullable().describe("null after its deletion") }).nullable(),
  detail: z.unknown(),
  ipAddress: z.string().nullable(),
});
export type AuditEntryView = z.infer<typeof auditEntrySchema>;

type Cursor = { readonly at: Date; readonly id: string };

/** Entries of an organization, newest first, by keyset (ORG-10). `nextCursor` is null on the last page. */
export async function listAuditEntries(call: {
  ctx: Context;
  input: AuditPageInput & { readonly orgSlug: string };
}): Promise<{ readonly entries: readonly AuditEntryView[]; readonly nextCursor: string | null }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "audit.read", { orgSlug: call.input.orgSlug });
  const { cursor, limit, ...filter } = parseInput(auditPageSchema, call.input);
  const after = cursor === undefined ? null : cursorOf(cursor);
  const entries = await readEntries(ctx, organization.id, filter, { after, limit });
  const last = entries.at(-1);
  return { entries, nextCursor: last && entries.length === limit ? `${last.at}_${last.id}` : null };
}

function cursorOf(text: string): Cursor {
  const [at = "", id = ""] = text.split("_");
  const time = new Date(at);
  if (isId(id) && !Number.isNaN(time.getTime())) return { at: time, id };
  const message = "This cursor is not one of the audit log's.";
  throw new TowpathError("invalid_input", message, { fields: { cursor: message } });
}

/** Who has entries in the log, by name. */
export async function listAuditActors(call: Call<{ readonly orgSlug: string }>): Promise<readonly AuditActor[]> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "audit.read", { orgSlug: call.input.orgSlug });
  const from = sql`SELECT actor FROM audit_log WHERE organization_id = ${organization.id}`;
  // Jumps from one actor to the next in the index, instead of reading a year of entries.
  const { rows } = await ctx.db.execute<{ actor: string }>(sql`
    WITH RECURSIVE found AS (
      (${from} ORDER BY actor LIMIT 1)
      UNION ALL
      SELECT (${from} AND actor > found.actor ORDER BY actor LIMIT 1) FROM found WHERE found.actor IS NOT NULL
    ) SELECT actor FROM found WHERE actor IS NOT NULL LIMIT ${maxActors}`);
  const actors = await describeActors(
    ctx,
    rows.map(({ actor }) => actor),
  );
  const people = [...actors.values()].filter(({ kind }) => kind !== "towpath");
  return people.toSorted((one, other) => one.name.localeCompare(other.name));
}

const maxActors = 500;
const exportPageSize = 1000;
/** Of one export. */
const maxExported = 100_000;

/**
 * All entries that match, newest first, in pages as they are read (ORG-10). Each page checks the permission again: an
 * export ends when its reader loses their role.
 *
 * @throws TowpathError `limit_reached` for more than 100,000 entries, before the first page
 */
export async function exportAuditEntries({
  ctx,
  input,
}: Call<AuditFilter & { readonly orgSlug: string }>): Promise<AsyncGenerator<readonly AuditEntryView[]>> {
  const { organization } = await authorize(ctx, "audit.read", { orgSlug: input.orgSlug });
  const filter = parseInput(auditFilterSchema, input);
  const counted = ctx.db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(conditionOf(organization.id, filter))
    .limit(maxExported + 1);
  if ((await ctx.db.$count(counted.as("counted"))) > maxExported) {
    const text = `An export has at most ${maxExported.toLocaleString("en")} entries. Choose a shorter time range.`;
    throw new TowpathError("limit_reached", text);
  }
  return exportPages({ ...ctx, checked: undefined }, organization.id, filter);
}

async function* exportPages(ctx: Context, organizationId: string, filter: AuditFilter) {
  let after: Cursor | null = null;
  for (let read = 0; read < maxExported; read += exportPageSize) {
    await authorize(ctx, "audit.read", { organizationId });
    const entries: readonly AuditEntryView[] = await readEntries(ctx, organizationId, filter, {
      after,
      limit: exportPageSize,
    });
    if (entries.length > 0) yield entries;
    const last = entries.at(-1);
    if (!last || entries.length < exportPageSize) return;
    after = { at: new Date(last.at), id: last.id };
  }
}

async function readEntries(
  ctx: Context,
  organizationId: string,
  filter: AuditFilter,
  { after, limit }: { readonly after: Cursor | null; readonly limit: number },
): Promise<readonly AuditEntryView[]> {
  const before =
    after && sql`(${auditLog.createdAt}, ${auditLog.id}) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)`;
  const rows = await ctx.db
    .select({ entry: auditLog, projectName: project.name })
    .from(auditLog)
    .leftJoin(project, and(eq(project.id, auditLog.projectId), eq(project.organizationId, auditLog.organizationId)))
    .where(and(conditionOf(organizationId, filter), before ?? undefined))
    .orderBy(desc(auditLog.createdAt), desc(auditLog.id))
    .limit(limit);
  const actors = await describeActors(
    ctx,
    rows.map(({ entry }) => entry.actor),
  );
  return rows.map(({ entry, projectName }) => ({
    id: entry.id,
    at: entry.createdAt.toISOString(),
    actor: actors.get(entry.actor) ?? unknownActor(entry.actor),
    action: entry.action,
    ...describeAction(entry.action, entry),
    subject: entry.subject,
    project: entry.projectId === null ? null : { id: entry.projectId, name: projectName },
    detail: entry.detail,
    ipAddress: entry.ipAddress,
  }));
}

function conditionOf(organizationId: string, { actor, group, from, to }: AuditFilter): SQL | undefined {
  return and(
    eq(auditLog.organizationId, organizationId),
    actor === undefined ? undefined : actor === "towpath" ? like(auditLog.actor, "job:%") : eq(auditLog.actor, actor),
    group === undefined ? undefined : inArray(auditLog.action, [...actionsOf(group)]),
    from === undefined ? undefined : gte(auditLog.createdAt, new Date(from)),
    to === undefined ? undefined : lt(auditLog.createdAt, new Date(to)),
  );
}

const userPrefix = "user:";
const keyPrefix = "apiKey:";

/** The ids behind a prefix. */
const idsWith = (prefix: string, actors: readonly string[]) =>
  actors.flatMap((actor) => {
    const id = actor.startsWith(prefix) ? actor.slice(prefix.length) : "";
    return isId(id) ? [id] : [];
  });

async function describeActors(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, AuditActor>> {
  const distinct = [...new Set(ids)];
  const [userIds, keyIds] = [idsWith(userPrefix, distinct), idsWith(keyPrefix, distinct)];
  const people = userIds.length > 0 ? await ctx.db.select().from(user).where(inArray(user.id, userIds)) : [];
  const keys = keyIds.length > 0 ? await ctx.db.select().from(apikey).where(inArray(apikey.id, keyIds)) : [];
  const known = new Map<string, AuditActor>([
    ...people.map((person): [string, AuditActor] => {
      const id = `${userPrefix}${person.id}`;
      return [id, { id, kind: "user", name: displayNameOf(person), email: person.email }];
    }),
    ...keys.map((key): [string, AuditActor] => {
      const id = `${keyPrefix}${key.id}`;
      return [id, { id, kind: "apiKey", name: `API key ${key.name}`, email: null }];
    }),
  ]);
  return new Map(distinct.map((id) => [id, known.get(id) ?? unknownActor(id)]));
}

function unknownActor(id: string): AuditActor {
  if (id === "operator") return { id, kind: "operator", name: "Operator", email: null };
  if (id.startsWith(userPrefix)) return { id, kind: "user", name: "Deleted account", email: null };
  if (id.startsWith(keyPrefix)) return { id, kind: "apiKey", name: "Deleted API key", email: null };
  return { id, kind: "towpath", name: "Towpath", email: null };
}
