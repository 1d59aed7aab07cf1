import { type AuditEntryView, exportAuditEntries } from "@towpath/core/audit-log";
import { auditFilterSchema } from "@towpath/core/audit-log/schema";
import type { Context } from "@towpath/core/context";
import { parseInput } from "@towpath/core/input";
import { z } from "zod";

const exportSchema = auditFilterSchema.extend({ format: z.enum(["csv", "jsonl"]).default("csv") });

const columns = {
  time: "Time (UTC)",
  who: "Who",
  email: "E-mail",
  what: "What",
  server: "Server",
  from: "From",
  action: "Action",
  detail: "Details",
} as const;

const formats = {
  csv: { type: "text/csv; charset=utf-8; header=present", head: () => csvRow(Object.values(columns)), line: csvLine },
  jsonl: { type: "application/jsonl; charset=utf-8", head: () => "", line: jsonLine },
} as const;

/**
 * The audit log as CSV or JSON Lines, by `?format=`, with the page's filters (ORG-10). It is read and sent in pages, so
 * that neither side holds it whole, at most 100,000 entries.
 *
 * @throws TowpathError as `exportAuditEntries`
 */
export async function auditExport(ctx: Context, orgSlug: string, search: URLSearchParams): Promise<Response> {
  const { format, ...filter } = parseInput(exportSchema, Object.fromEntries(search));
  const pages = await exportAuditEntries({ ctx, input: { orgSlug, ...filter } });
  const { type, head, line } = formats[format];
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head())),
    async pull(controller) {
      const { value, done } = await pages.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value.map(line).join("")));
    },
    cancel: async () => void (await pages.return(undefined)),
  });
  const day = ctx.clock.now().toISOString().slice(0, 10);
  const file = `audit-log-${orgSlug}-${day}.${format}`;
  return new Response(body, {
    headers: { "content-type": type, "content-disposition": `attachment; filename="${file}"` },
  });
}

function csvLine(entry: AuditEntryView): string {
  const { actor, project } = entry;
  const detail = entry.detail === null ? "" : JSON.stringify(entry.detail);
  const server = project ? (project.name ?? project.id) : "";
  return csvRow([
    entry.at,
    actor.name,
    actor.email ?? "",
    entry.text,
    server,
    entry.ipAddress ?? "",
    entry.action,
    detail,
  ]);
}

/** A row of RFC 4180. Cells that a spreadsheet would take for formulas begin with an apostrophe: names are tenants' text. */
function csvRow(cells: readonly string[]): string {
  const safe = cells.map((cell) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell));
  return `${safe.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\r\n`;
}

function jsonLine(entry: AuditEntryView): string {
  return `${JSON.stringify(entry)}\n`;
}
