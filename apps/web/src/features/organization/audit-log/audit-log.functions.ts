import { infiniteQueryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { listAuditActors, listAuditEntries } from "@towpath/core/tenancy/audit-log";
import { type AuditGroup, auditPageSchema } from "@towpath/core/tenancy/audit-log/schema";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

/** A page of the audit log, newest first (ORG-10). */
const getAuditEntries = createServerFn({ method: "GET" })
  .middleware([organizationAccess("audit.read")])
  .validator(input(auditPageSchema.extend({ orgSlug: z.string() })))
  .handler(async ({ context, data }) => {
    const { entries, nextCursor } = await listAuditEntries({ ctx: context.ctx, input: data });
    // As text: details have any shape, and the page only shows them.
    return { entries: entries.map((entry) => ({ ...entry, detail: detailText(entry.detail) })), nextCursor };
  });

const detailText = (detail: unknown) => (detail === null ? null : JSON.stringify(detail, null, 2));

/** Actors with entries in the audit log. */
const getAuditActors = createServerFn({ method: "GET" })
  .middleware([organizationAccess("audit.read")])
  .validator(input(z.object({ orgSlug: z.string() })))
  .handler(({ context, data }) => listAuditActors({ ctx: context.ctx, input: data }));

export type ShownEntry = Awaited<ReturnType<typeof getAuditEntries>>["entries"][number];

const auditTimes = { "24h": 1, "7d": 7, "30d": 30, "90d": 90 } as const;
export type AuditTime = keyof typeof auditTimes;

export type AuditSearch = {
  readonly actor?: string | undefined;
  readonly group?: AuditGroup | undefined;
  /** Absent: all that is kept. */
  readonly time?: AuditTime | undefined;
};

const dayMs = 86_400_000;

/** The filter of a search, without absent fields. */
export function filterOf({ actor, group, time }: AuditSearch) {
  return {
    ...(actor && { actor }),
    ...(group && { group }),
    ...(time && { from: new Date(Date.now() - auditTimes[time] * dayMs).toISOString() }),
  };
}

export const auditLogQuery = (orgSlug: string, search: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ["audit-log", orgSlug, search],
    queryFn: ({ pageParam, signal }) => {
      const page = { ...filterOf(search), ...(pageParam !== "" && { cursor: pageParam }) };
      return getAuditEntries({ data: { orgSlug, ...page }, signal });
    },
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export const auditActorsQuery = (orgSlug: string) => queryOf(["audit-actors", orgSlug], getAuditActors, { orgSlug });
