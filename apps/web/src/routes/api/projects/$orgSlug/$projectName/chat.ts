import { createFileRoute } from "@tanstack/react-router";
import { chatStream } from "~/features/inspector/chat/chat-stream.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** CHAT-1. Whether the person may call the server, its own policy decides too (GW-15). */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/chat")({
  server: {
    handlers: {
      POST: withPermission<ProjectKey>("project.read", ({ request, params }) => chatStream(params, request)),
    },
  },
});
