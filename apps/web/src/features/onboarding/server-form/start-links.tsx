import { Link, type LinkProps } from "@tanstack/react-router";
import { ArrowRight, Package, Search } from "lucide-react";
import type { ReactNode } from "react";

type StartLinkProps = {
  readonly link: LinkProps;
  readonly icon: ReactNode;
  readonly title: string;
  readonly children: ReactNode;
};

/** A way to a server, as a row that leads to its page. */
export function StartLink({ link, icon, title, children }: StartLinkProps) {
  return (
    <Link
      {...link}
      className="mt-4 flex items-center gap-3 rounded-lg border bg-surface px-4 py-3.5 transition-colors hover:bg-hover"
    >
      <span className="shrink-0 text-accent-text *:size-5">{icon}</span>
      <span className="min-w-0 flex-1">
        <span className="block truncate text-base font-semibold">{title}</span>
        <span className="block text-sm text-muted">{children}</span>
      </span>
      <ArrowRight className="size-4 shrink-0 text-faint" />
    </Link>
  );
}

/** Links to deploy a published server, which needs no repository. */
export function PublishedServerLinks({ orgSlug }: { readonly orgSlug: string }) {
  const params = { orgSlug };
  return (
    <>
      <StartLink link={{ to: "/$orgSlug/servers/package", params }} icon={<Package />} title="Deploy a package">
        A published server, by its name on the package index.
      </StartLink>
      <StartLink
        link={{ to: "/$orgSlug/servers/registry", params }}
        icon={<Search />}
        title="Find a server in a registry"
      >
        Search published servers, or paste a server.json.
      </StartLink>
    </>
  );
}
