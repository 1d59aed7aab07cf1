import { createFileRoute } from "@tanstack/react-router";
import { PreferencesPage } from "~/features/account/preferences-page.tsx";
import { PageError } from "~/features/error-screens/page-error.tsx";

/** ORG-4 */
export const Route = createFileRoute("/$orgSlug/settings/preferences")({
  head: () => ({ meta: [{ title: "Preferences · Towpath" }] }),
  component: Preferences,
  errorComponent: PageError,
});

function Preferences() {
  const { profile } = Route.useRouteContext();
  return <PreferencesPage preferences={profile.preferences} />;
}
