import type { Context } from "@towpath/core/context";
import { type AuditEntryView, exportAuditEntries } from "@towpath/core/tenancy/audit-log";
import { auditFilterSchema } from "@towpath/core/tenancy/audit-log/schema";
import { z } from "zod";
import { download, downloadFormats } from "~/http/download.server.ts";

export const auditExportSchema = auditFilterSchema.extend({ format: z.enum(downloadFormats).default("csv") });
const columns = ["Time (UTC)", "Who", "Email", "What", "Server", "From", "Action", "Details"];

/**
 * The audit log as CSV or JSON Lines, by `format`, with the page's filters (ORG-10), at most 100,000 entries.
 *
 * @throws TowpathError as `exportAuditEntries`
 */
export async function auditExport(
  ctx: Context,
  orgSlug: string,
  query: z.output<typeof auditExportSchema>,
): Promise<Response> {
  const { format, ...filter } = query;
  const pages = await exportAuditEntries({ ctx, input: { orgSlug, ...filter } });
  const name = `audit-log-${orgSlug}-${ctx.clock.now().toISOString().slice(0, 10)}`;
  return download({ format, name, columns, cells: cellsOf, pages });
}

function cellsOf({ actor, project, detail, ...entry }: AuditEntryView): readonly string[] {
  return [
    entry.at,
    actor.name,
    actor.email ?? "",
    entry.text,
    project ? (project.name ?? project.id) : "",
    entry.ipAddress ?? "",
    entry.action,
    detail === null ? "" : JSON.stringify(detail),
  ];
}
