import { createFileRoute, Outlet } from "@tanstack/react-router";
import { PublicLayout } from "~/features/public-site/public-layout.tsx";
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
  return (
    <PublicLayout site={site} viewer={viewer}>
      <Outlet />
    </PublicLayout>
  );
}
