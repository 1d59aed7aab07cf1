import { createFileRoute, Outlet } from "@tanstack/react-router";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { PublicLayout, PublicPage } from "~/features/public-site/public-layout.tsx";
import { siteQuery } from "~/features/public-site/site.functions.ts";
import { readViewer } from "~/features/public-site/viewer.ts";

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
