import { createFileRoute, redirect } from "@tanstack/react-router";
import { requireActiveOrganization } from "~/features/shared/session/guards.ts";

/** CAP-1: where a server's refusal leads the caller, who may be signed in to another organization. */
export const Route = createFileRoute("/my-values/$projectId")({
  beforeLoad: async ({ context, location, params }) => {
    const { active } = await requireActiveOrganization({ context, location });
    const to = "/$orgSlug/settings/my-values";
    throw redirect({ to, params: { orgSlug: active.slug }, hash: params.projectId });
  },
});
