import { useQuery } from "@tanstack/react-query";
import { useLocation, useMatches } from "@tanstack/react-router";
import type { OrganizationAccessView, ProfileView } from "@towpath/core/tenancy/organization";
import { type ReactNode, useEffect, useMemo } from "react";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useOpenBranch } from "~/features/shared/project-screen/use-open-branch.ts";
import { type Navigation, projectNavigation, projectScreens } from "~/features/shell/navigation/navigation.tsx";
import { onFirstInput } from "~/ui/first-input.ts";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Main } from "~/ui/main.tsx";
import { OfflineBanner } from "~/ui/offline-banner.tsx";
import { PageTabsContext } from "~/ui/page-tabs.tsx";
import { SidebarLayout, SidebarNavigation } from "~/ui/sidebar-layout.tsx";
import { useIsOnboarding, useOpenProject } from "./shell-location.ts";
import { TopBar } from "./top-bar.tsx";

// A project's pages have none.
const OrganizationSidebar = lazyPart(
  async () => (await import("~/features/shell/navigation/organization-sidebar.tsx")).OrganizationSidebar,
);

type AppShellProps = {
  readonly profile: ProfileView;
  /** Null before the first organization exists. */
  readonly organization: OrganizationAccessView | null;
  /** False for pages of the public site. */
  readonly hasSidebar?: boolean;
  readonly children: ReactNode;
};

/**
 * The layout of all pages behind sign-in (PUB-3): a bar of 64 px, and the navigation of the open project or
 * organization beside the page. Renders the page's `<main>`, except without navigation: during onboarding, and with
 * `hasSidebar` false.
 */
export function AppShell({ profile, organization, hasSidebar = true, children }: AppShellProps) {
  const navigation = useNavigation(organization);
  const isWelcome = useIsOnboarding();
  useEffect(
    () =>
      onFirstInput(() => {
        // Before any action with a toast, as the network may fail later.
        import("~/ui/toaster.tsx").catch(() => {});
        void OrganizationSidebar.preload();
      }),
    [],
  );
  const isBare = !hasSidebar || isWelcome;
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2 focus:text-sm focus:shadow-pop"
      >
        Skip to content
      </a>
      <TopBar profile={profile} organization={organization} navigation={navigation} hasSidebar={!isBare} />
      <OfflineBanner />
      {isBare ? children : null}
      {!isBare && organization ? (
        <SidebarLayout
          sidebar={
            navigation ? (
              <SidebarNavigation label={navigation.label} groups={navigation.groups} />
            ) : (
              <OrganizationSidebar organization={organization} />
            )
          }
        >
          <PageTabsContext value={navigation?.tabs ?? null}>{children}</PageTabsContext>
        </SidebarLayout>
      ) : null}
      {!isBare && !organization ? (
        <Main className="mx-auto w-full max-w-[96rem] px-4 py-6 outline-none sm:px-6">{children}</Main>
      ) : null}
    </>
  );
}

/** The navigation of the open project; null for none. */
function useNavigation(organization: OrganizationAccessView | null): Navigation | null {
  const projectName = useOpenProject();
  const branchId = useOpenBranch();
  const pathname = useLocation({ select: (location) => location.pathname });
  // While the next page loads, the address is its already.
  const shown = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? "" });
  // The project's route has loaded it.
  const { data: project } = useQuery({
    ...projectQuery({ orgSlug: organization?.slug ?? "", projectName: projectName ?? "" }),
    enabled: organization !== null && projectName !== null,
  });
  const kind = project?.kind ?? "hosted";
  const isPackage = project?.package != null;
  // The same object while nothing changes, so that parts of the page with these tabs aren't rendered again.
  return useMemo(() => {
    if (!organization || projectName === null) return null;
    const { slug: orgSlug, permissions } = organization;
    const screens = projectScreens({ orgSlug, projectName }, permissions, { branchId, kind, isPackage });
    return projectNavigation(projectName, kind, screens, { pathname, shown });
  }, [organization, projectName, branchId, kind, isPackage, pathname, shown]);
}
