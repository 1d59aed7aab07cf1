import { createFileRoute } from "@tanstack/react-router";
import { parseInput } from "@towpath/core/input";
import { auditExport, auditExportSchema } from "~/features/organization/audit-log/audit-export.server.ts";
import { signedInContext } from "~/http/caller.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** The export of the audit log, for the page's links (ORG-10). */
export const Route = createFileRoute("/api/organizations/$orgSlug/audit-log")({
  server: {
    handlers: {
      GET: withPermission<{ orgSlug: string }>("audit.read", async ({ request, params }) => {
        const { ctx } = await signedInContext(request.headers);
        const query = parseInput(auditExportSchema, Object.fromEntries(new URL(request.url).searchParams));
        return auditExport(ctx, params.orgSlug, query);
      }),
    },
  },
});
