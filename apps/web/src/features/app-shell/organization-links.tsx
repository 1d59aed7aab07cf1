import { Link } from "@tanstack/react-router";

const look =
  "flex h-8 items-center rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:font-medium data-[status=active]:text-ink";

/** The organization's screens. Those that come later are not listed yet. */
export function OrganizationLinks({ orgSlug, mayManage }: { readonly orgSlug: string; readonly mayManage: boolean }) {
  return (
    <nav aria-label="Organization" className="flex items-center">
      <Link to="/$orgSlug/servers" params={{ orgSlug }} className={look}>
        Servers
      </Link>
      <Link to="/$orgSlug/settings/api-keys" params={{ orgSlug }} className={`${look} max-sm:hidden`}>
        API keys
      </Link>
      {mayManage ? (
        <Link to="/$orgSlug/settings/instance" params={{ orgSlug }} className={`${look} max-sm:hidden`}>
          Instance
        </Link>
      ) : null}
    </nav>
  );
}
