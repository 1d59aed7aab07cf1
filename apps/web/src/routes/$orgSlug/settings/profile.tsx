import { createFileRoute } from "@tanstack/react-router";
import { ProfilePage } from "~/features/account/profile-page.tsx";
import { PageError } from "~/features/error-screens/page-error.tsx";

/** ORG-4 */
export const Route = createFileRoute("/$orgSlug/settings/profile")({
  head: () => ({ meta: [{ title: "Profile · Towpath" }] }),
  component: Profile,
  errorComponent: PageError,
});

function Profile() {
  const { profile } = Route.useRouteContext();
  return <ProfilePage profile={profile} />;
}
