import { createFileRoute } from "@tanstack/react-router";
import { mcpRelay } from "~/features/inspector/inspector/connection/mcp-relay.server.ts";
import { refusalHeader } from "~/features/inspector/inspector/connection/relay.schema.ts";
import { respond } from "~/http/request.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

type Call = { readonly request: Request; readonly params: { readonly orgSlug: string; readonly projectName: string } };

const handle = ({ request, params }: Call) =>
  respond(request, () => mcpRelay(params, request), { [refusalHeader]: "1" });

/** PRJ-4. Whether the person may call the server, its own policy decides too (GW-15). */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/mcp")({
  server: {
    handlers: {
      GET: withPermission("project.read", handle),
      POST: withPermission("project.read", handle),
      DELETE: withPermission("project.read", handle),
    },
  },
});
