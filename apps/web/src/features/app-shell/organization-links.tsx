import { Link } from "@tanstack/react-router";
import type { Permission } from "@towpath/core/authorize";

type Organization = { readonly slug: string; readonly permissions: readonly Permission[] };

const look =
  "flex h-8 items-center rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:font-medium data-[status=active]:text-ink";

/** Links for the menu to the settings that the user's role may open; null for the others. */
export function settingsHrefs(organization: Organization | null) {
  const href = (screen: string, permission: Permission) =>
    organization?.permissions.includes(permission) ? `/${organization.slug}/settings/${screen}` : null;
  return {
    keysHref: href("api-keys", "apiKey.read"),
    instanceHref: href("instance", "organization.manage"),
    preferencesHref: href("preferences", "organization.delete"),
  };
}

/** Links to the screens that the user's role may open. */
export function OrganizationLinks({ organization }: { readonly organization: Organization }) {
  const { slug: orgSlug, permissions } = organization;
  return (
    <nav aria-label="Organization" className="flex items-center">
      <Link to="/$orgSlug/servers" params={{ orgSlug }} className={look}>
        Servers
      </Link>
      {permissions.includes("apiKey.read") ? (
        <Link to="/$orgSlug/settings/api-keys" params={{ orgSlug }} className={`${look} max-sm:hidden`}>
          API keys
        </Link>
      ) : null}
      {permissions.includes("organization.manage") ? (
        <Link to="/$orgSlug/settings/instance" params={{ orgSlug }} className={`${look} max-sm:hidden`}>
          Instance
        </Link>
      ) : null}
    </nav>
  );
}
