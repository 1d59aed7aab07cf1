import { Link } from "@tanstack/react-router";
import type { OrganizationAccessView, ProfileView } from "@towpath/core/tenancy/organization";
import { Menu as MenuIcon } from "lucide-react";
import { useState } from "react";
import { ConnectButton } from "~/features/project/clients/connect-button.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { CommandButton, useCommandDialogs } from "~/features/shell/command-palette/command-button.tsx";
import type { Navigation } from "~/features/shell/navigation/navigation.tsx";
import { OrganizationSwitcher } from "~/features/shell/navigation/organization-switcher.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { LogoMark } from "~/ui/logo.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import { BranchSwitcher, useHasBranches } from "./branch-switcher.tsx";
import { ServerSwitcher } from "./server-switcher.tsx";
import { useOpenProject } from "./shell-location.ts";
import { UserMenu } from "./user-menu.tsx";

type TopBarProps = {
  readonly profile: ProfileView;
  readonly organization: OrganizationAccessView | null;
  readonly navigation: Navigation | null;
  readonly hasSidebar: boolean;
};

/** The app's bar: the location as switchers, then search, Connect and the person's menu. */
export function TopBar({ profile, organization, navigation, hasSidebar }: TopBarProps) {
  const projectName = useOpenProject();
  const open = organization && projectName !== null ? { orgSlug: organization.slug, projectName } : null;
  const commands = useCommandDialogs();
  const place = { profile, organization, open: open && { key: open, screens: navigation?.screens ?? [] } };
  const projects = profile.projects.filter(({ orgSlug }) => orgSlug === organization?.slug);
  return (
    <header className="sticky top-0 z-30 border-b bg-canvas">
      <div className="mx-auto flex h-16 w-full max-w-[96rem] items-center gap-1 px-4 sm:gap-1.5 sm:px-6">
        {hasSidebar && organization ? (
          <NavigationDrawer navigation={navigation} profile={profile} organization={organization} open={open} />
        ) : null}
        <Link
          to={organization ? "/$orgSlug/servers" : "/"}
          {...(organization ? { params: { orgSlug: organization.slug } } : {})}
          className={open ? "rounded-md max-lg:hidden" : "rounded-md"}
          aria-label="Towpath, your servers"
        >
          <LogoMark />
        </Link>
        <nav aria-label="Where you are" className="flex min-w-0 flex-1 items-center gap-0.5">
          {organization ? (
            <>
              <Slash className={open ? "max-lg:hidden" : ""} />
              <OrganizationSwitcher
                organizations={profile.organizations}
                active={organization}
                className={open ? "max-w-48 max-lg:hidden" : "max-w-60"}
              />
            </>
          ) : null}
          {organization && open ? (
            <Places open={open} projects={projects} permissions={organization.permissions} />
          ) : null}
        </nav>
        <CommandButton place={place} commands={commands} />
        {open ? <ConnectButton projectKey={open} isIcon /> : null}
        <UserMenu profile={profile} onShortcuts={commands.onShortcuts} />
      </div>
    </header>
  );
}

function Places(props: {
  readonly open: ProjectKey;
  readonly projects: ProfileView["projects"];
  readonly permissions: OrganizationAccessView["permissions"];
}) {
  const { open } = props;
  const hasBranches = useHasBranches(open);
  return (
    <>
      <Slash className="max-lg:hidden" />
      <ServerSwitcher {...props} className="max-w-64" />
      {hasBranches ? (
        <>
          <Slash className="max-md:hidden" />
          <BranchSwitcher open={open} className="max-w-44 max-md:hidden" />
        </>
      ) : null}
    </>
  );
}

const Slash = ({ className }: { readonly className: string }) => (
  <span aria-hidden className={`text-line-strong ${className}`}>
    /
  </span>
);

/** The sidebar on phones and tablets, with the switchers that the bar has no room for. Loaded when first opened. */
function NavigationDrawer(props: {
  readonly navigation: Navigation | null;
  readonly profile: ProfileView;
  readonly organization: OrganizationAccessView;
  readonly open: ProjectKey | null;
}) {
  const [isOpen, setOpen] = useState(false);
  const [drawer, preload] = useLazyModule(() => import("./navigation-drawer.tsx"), isOpen, setOpen);
  return (
    <>
      <IconButton
        label="Menu"
        className="-ml-1.5 lg:hidden"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => setOpen(true)}
      >
        <MenuIcon />
      </IconButton>
      {drawer ? <drawer.NavigationDrawerPanel {...props} isOpen={isOpen} onOpenChange={setOpen} /> : null}
    </>
  );
}
