import { createFileRoute } from "@tanstack/react-router";
import { PreferencesPage } from "~/features/account/account/preferences-page.tsx";

/** ORG-4 */
export const Route = createFileRoute("/$orgSlug/settings/preferences")({
  head: () => ({ meta: [{ title: "Preferences · Towpath" }] }),
  component: Preferences,
});

function Preferences() {
  const { profile } = Route.useRouteContext();
  return <PreferencesPage preferences={profile.preferences} />;
}
