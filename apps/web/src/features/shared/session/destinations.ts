import type { ProfileView } from "@towpath/core/tenancy/organization";

type Organizations = ProfileView["organizations"];

/** The organization that the session names, else the user's first; null without any (AUTH-5). */
export function activeOrganization(
  organizations: Organizations,
  sessionOrganizationId: string | null,
): Organizations[number] | null {
  return organizations.find(({ id }) => id === sessionOrganizationId) ?? organizations[0] ?? null;
}

/** Where `/` sends a signed-in user, by their progress (PUB-5). */
export function homeDestination(
  profile: Pick<ProfileView, "organizations" | "githubInstallations"> & {
    readonly projects: readonly Pick<ProfileView["projects"][number], "orgSlug">[];
  },
  sessionOrganizationId: string | null,
): string {
  const active = activeOrganization(profile.organizations, sessionOrganizationId);
  if (!active) return "/welcome/create-organization";
  if (profile.githubInstallations.length === 0) return `/${active.slug}/welcome/connect-github?success=false`;
  const first = profile.projects[0];
  if (!first) return `/${active.slug}/welcome/server-setup`;
  const chosen = profile.organizations.find(({ id }) => id === sessionOrganizationId);
  const slug = chosen?.slug ?? first.orgSlug;
  return profile.projects.some(({ orgSlug }) => orgSlug === slug) ? `/${slug}` : `/${slug}/welcome/choose-repo`;
}

/** The same URL in another organization (AUTH-8): only the first path segment changes. */
export function inOrganization(href: string, orgSlug: string): string {
  return href.replace(/^\/[^/?#]*/, `/${orgSlug}`);
}
