import { createFileRoute, Outlet } from "@tanstack/react-router";
import { AppShell } from "~/features/shell/app-shell/app-shell.tsx";
import { PublicLayout, PublicPage } from "~/features/site/public-site/public-layout.tsx";
import { siteQuery } from "~/features/site/public-site/site.functions.ts";
import { readViewer } from "~/features/site/public-site/viewer.ts";

/** The public site (PUB-1, PUB-3). Visitors get it as static documents. */
export const Route = createFileRoute("/_site")({
  beforeLoad: async ({ context: { queryClient } }) => {
    const [site, viewer] = await Promise.all([queryClient.ensureQueryData(siteQuery), readViewer(queryClient)]);
    return { site, viewer, isStatic: viewer === null };
  },
  component: SiteLayout,
});

function SiteLayout() {
  const { site, viewer } = Route.useRouteContext();
  const page = <Outlet />;
  if (viewer === null) return <PublicLayout site={site}>{page}</PublicLayout>;
  return (
    <AppShell profile={viewer.profile} organization={viewer.organization} hasSidebar={false}>
      <PublicPage site={site}>{page}</PublicPage>
    </AppShell>
  );
}
