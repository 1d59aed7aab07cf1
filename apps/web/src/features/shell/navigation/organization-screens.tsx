import type { Permission } from "@towpath/core/authorize";
import {
  Bell,
  BookOpen,
  CircleUserRound,
  Fingerprint,
  GitBranch,
  KeyRound,
  KeySquare,
  MonitorSmartphone,
  Palette,
  ScrollText,
  Server,
  Settings2,
  ShieldCheck,
  Users,
  Waypoints,
} from "lucide-react";
import { allowed, type ScreenGroup, screen } from "./navigation.tsx";

/** The screens of an organization, for a role. */
export function organizationScreens(organization: {
  readonly slug: string;
  readonly permissions: readonly Permission[];
}): readonly ScreenGroup[] {
  const params = { orgSlug: organization.slug };
  const settings = <const Page extends string>(page: Page) => ({ to: `/$orgSlug/settings/${page}` as const, params });
  const forManagers = { permission: "organization.manage" } as const;
  return allowed(organization.permissions, [
    {
      label: "Organization",
      items: [
        screen("Servers", <Server />, { to: "/$orgSlug/servers", params }),
        screen("Portals", <Waypoints />, { to: "/$orgSlug/portals", params }),
      ],
    },
    {
      label: "Settings",
      items: [
        screen("API keys", <KeyRound />, settings("api-keys"), { permission: "apiKey.read" }),
        screen("GitHub", <GitBranch />, settings("github"), { permission: "installation.read" }),
        screen("Alerts", <Bell />, settings("alerts"), { permission: "alert.read" }),
        screen("Members", <Users />, settings("members")),
        screen("Audit log", <ScrollText />, settings("audit-log"), { permission: "audit.read" }),
        screen("General", <Settings2 />, settings("general"), forManagers),
        screen("Instance", <ShieldCheck />, settings("instance"), forManagers),
      ],
    },
    {
      label: "Your account",
      items: [
        screen("Profile", <CircleUserRound />, settings("profile")),
        screen("Security", <Fingerprint />, settings("security")),
        screen("My values", <KeySquare />, settings("my-values")),
        screen("Sessions", <MonitorSmartphone />, settings("sessions")),
        screen("Preferences", <Palette />, settings("preferences")),
      ],
    },
    {
      label: "Help",
      items: [screen("Documentation", <BookOpen />, { to: "/docs" })],
    },
  ]);
}
