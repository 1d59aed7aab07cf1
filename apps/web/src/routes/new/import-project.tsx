import { createFileRoute, redirect } from "@tanstack/react-router";
import { z } from "zod";
import { activeOrganization } from "~/features/session/destinations.ts";
import { requireProfile } from "~/features/session/guards.ts";

const searchSchema = z.object({
  repoName: z.string().max(255).catch(""),
  installationId: z.number().int().positive().optional().catch(undefined),
  isPrivate: z.boolean().optional().catch(undefined),
  entrypoint: z.string().max(200).optional().catch(undefined),
});

/** ONB-9: the form that deploys a repository is a step of the active organization. */
export const Route = createFileRoute("/new/import-project")({
  validateSearch: searchSchema,
  beforeLoad: async ({ context, location, search }) => {
    const { auth, profile } = await requireProfile({ context, location });
    const active = activeOrganization(profile.organizations, auth.organizationId);
    if (!active) throw redirect({ to: "/" });
    throw redirect({ to: "/$orgSlug/welcome/server-deploy", params: { orgSlug: active.slug }, search });
  },
});
