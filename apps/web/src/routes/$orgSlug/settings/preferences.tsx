import { createFileRoute } from "@tanstack/react-router";
import { PageError } from "~/features/error-screens/error-screens.tsx";
import { PreferencesPage } from "~/features/organization-settings/preferences-page.tsx";

/** ORG-4 */
export const Route = createFileRoute("/$orgSlug/settings/preferences")({
  head: () => ({ meta: [{ title: "Preferences · Towpath" }] }),
  component: Preferences,
  errorComponent: PageError,
});

function Preferences() {
  const { organization } = Route.useRouteContext();
  return (
    <PreferencesPage organization={organization} mayDelete={organization.permissions.includes("organization.delete")} />
  );
}
