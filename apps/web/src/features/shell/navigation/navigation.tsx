import type { Permission } from "@towpath/core/authorize";
import type { ProjectKind } from "@towpath/core/project";
import {
  Activity,
  BookOpen,
  Bot,
  ChartNoAxesColumn,
  CircleUserRound,
  FileText,
  Fingerprint,
  Gauge,
  GitBranch,
  KeyRound,
  LayoutTemplate,
  MessageSquareText,
  MessagesSquare,
  MonitorSmartphone,
  Palette,
  Plug,
  Rocket,
  ScrollText,
  Server,
  Settings,
  Settings2,
  ShieldCheck,
  ShieldHalf,
  SquareTerminal,
  Stethoscope,
  Users,
  Waypoints,
  Wrench,
} from "lucide-react";
import type { SidebarItem } from "~/ui/sidebar-layout.tsx";

/** A screen that the sidebar and the command palette lead to. */
type Screen = SidebarItem & {
  /** Only roles with this permission see the entry. */
  readonly permission?: Permission;
  /** Other words that find it in the command palette. */
  readonly keywords?: readonly string[];
};
export type ScreenGroup = { readonly label: string; readonly items: readonly Screen[] };
/** The sidebar's links; `label` names the open project or organization. */
export type Navigation = { readonly label: string; readonly groups: readonly ScreenGroup[] };

/** The screens of an organization, for a role. */
export function organizationScreens(organization: {
  readonly slug: string;
  readonly permissions: readonly Permission[];
}): readonly ScreenGroup[] {
  const params = { orgSlug: organization.slug };
  return allowed(organization.permissions, [
    {
      label: "Organization",
      items: [
        { label: "Servers", icon: <Server aria-hidden />, link: { to: "/$orgSlug/servers", params } },
        { label: "Portals", icon: <Waypoints aria-hidden />, link: { to: "/$orgSlug/portals", params } },
      ],
    },
    {
      label: "Settings",
      items: [
        {
          label: "API keys",
          icon: <KeyRound aria-hidden />,
          link: { to: "/$orgSlug/settings/api-keys", params },
          permission: "apiKey.read",
          keywords: ["token"],
        },
        {
          label: "GitHub",
          icon: <GitBranch aria-hidden />,
          link: { to: "/$orgSlug/settings/github", params },
          permission: "installation.read",
          keywords: ["connect", "repositories"],
        },
        {
          label: "Members",
          icon: <Users aria-hidden />,
          link: { to: "/$orgSlug/settings/members", params },
          keywords: ["invite", "people", "team", "roles"],
        },
        {
          label: "Audit log",
          icon: <ScrollText aria-hidden />,
          link: { to: "/$orgSlug/settings/audit-log", params },
          permission: "audit.read",
          keywords: ["history", "who changed", "export"],
        },
        {
          label: "General",
          icon: <Settings2 aria-hidden />,
          link: { to: "/$orgSlug/settings/general", params },
          permission: "organization.manage",
          keywords: ["name", "address", "delete organization"],
        },
        {
          label: "Instance",
          icon: <ShieldCheck aria-hidden />,
          link: { to: "/$orgSlug/settings/instance", params },
          permission: "organization.manage",
          keywords: ["isolation", "disk"],
        },
      ],
    },
    {
      label: "Your account",
      items: [
        {
          label: "Profile",
          icon: <CircleUserRound aria-hidden />,
          link: { to: "/$orgSlug/settings/profile", params },
          keywords: ["name", "email"],
        },
        {
          label: "Security",
          icon: <Fingerprint aria-hidden />,
          link: { to: "/$orgSlug/settings/security", params },
          keywords: ["password", "two-factor", "authenticator", "connected apps"],
        },
        {
          label: "Sessions",
          icon: <MonitorSmartphone aria-hidden />,
          link: { to: "/$orgSlug/settings/sessions", params },
          keywords: ["sign out everywhere", "devices"],
        },
        {
          label: "Preferences",
          icon: <Palette aria-hidden />,
          link: { to: "/$orgSlug/settings/preferences", params },
          keywords: ["theme", "dark", "light"],
        },
      ],
    },
    {
      label: "Help",
      items: [
        {
          label: "Documentation",
          icon: <BookOpen aria-hidden />,
          link: { to: "/docs" },
          keywords: ["docs", "guide", "manual"],
        },
      ],
    },
  ]);
}

/** The screens of a project of this kind, for a role. `branchId`: of screens with a branch; null: the default branch. */
export function projectScreens(
  project: { readonly orgSlug: string; readonly projectName: string },
  permissions: readonly Permission[],
  { branchId, kind }: { readonly branchId: string | null; readonly kind: ProjectKind },
): readonly ScreenGroup[] {
  const { orgSlug, projectName } = project;
  const params = { orgSlug, projectName };
  const ofBranch = { params, search: branchId === null ? {} : { branchId } };
  return allowed(permissions, [
    {
      label: kind === "portal" ? "Portal" : "Server",
      items: [
        {
          label: "Overview",
          icon: <ChartNoAxesColumn aria-hidden />,
          link: { to: "/$orgSlug/$projectName", ...ofBranch },
          exact: true,
        },
        ...(kind === "portal" ? [portalServers(params)] : []),
        {
          label: "Inspector",
          icon: <SquareTerminal aria-hidden />,
          link: { to: "/$orgSlug/$projectName/inspector", ...ofBranch },
          keywords: ["call a tool"],
        },
        // A chat is with a deployment.
        ...(kind === "hosted"
          ? [
              {
                label: "Chat",
                icon: <Bot aria-hidden />,
                link: { to: "/$orgSlug/$projectName/chat", ...ofBranch },
                keywords: ["ask", "model", "assistant"],
              } as const,
            ]
          : []),
        {
          label: "Logs",
          icon: <Activity aria-hidden />,
          link: { to: "/$orgSlug/$projectName/logs", params },
          keywords: ["requests", "calls", "errors"],
        },
        ...(kind === "hosted"
          ? [
              {
                label: "Deployments",
                icon: <Rocket aria-hidden />,
                link: { to: "/$orgSlug/$projectName/deployments", params },
                keywords: ["builds", "previews", "branches"],
              } as const,
            ]
          : []),
      ],
    },
    {
      label: "Connect",
      items: [
        {
          label: "Clients",
          icon: <Plug aria-hidden />,
          link: { to: "/$orgSlug/$projectName/clients", params },
          permission: "client.read",
        },
        {
          label: "Sign-ins",
          icon: <Stethoscope aria-hidden />,
          link: { to: "/$orgSlug/$projectName/sign-ins", params },
          permission: "client.read",
          keywords: ["oauth"],
        },
        {
          label: "Admin JWT",
          icon: <KeyRound aria-hidden />,
          link: { to: "/$orgSlug/$projectName/admin-jwt", params },
          permission: "adminJwt.manage",
          keywords: ["token"],
        },
      ],
    },
    {
      label: "Usage",
      items: [
        {
          label: "Sessions",
          icon: <MessagesSquare aria-hidden />,
          link: { to: "/$orgSlug/$projectName/sessions", params },
        },
        { label: "Users", icon: <Users aria-hidden />, link: { to: "/$orgSlug/$projectName/users", params } },
        {
          label: "Tools",
          icon: <Wrench aria-hidden />,
          link: { to: "/$orgSlug/$projectName/tools/{-$toolName}", params },
        },
        {
          label: "Resources",
          icon: <FileText aria-hidden />,
          link: { to: "/$orgSlug/$projectName/resources/{-$resourceName}", params },
        },
        {
          label: "Templates",
          icon: <LayoutTemplate aria-hidden />,
          link: { to: "/$orgSlug/$projectName/resource-templates/{-$templateName}", params },
        },
        {
          label: "Prompts",
          icon: <MessageSquareText aria-hidden />,
          link: { to: "/$orgSlug/$projectName/prompts/{-$promptName}", params },
        },
      ],
    },
    {
      label: "Configure",
      items: [
        {
          label: "Access",
          icon: <ShieldHalf aria-hidden />,
          link: { to: "/$orgSlug/$projectName/access", params },
          keywords: ["roles", "permissions"],
        },
        {
          label: "Limits",
          icon: <Gauge aria-hidden />,
          link: { to: "/$orgSlug/$projectName/limits", params },
          keywords: ["rate"],
        },
        {
          label: "Settings",
          icon: <Settings aria-hidden />,
          link: { to: "/$orgSlug/$projectName/settings", params },
          keywords: ["environment variables", "entrypoint", "delete"],
        },
      ],
    },
  ]);
}

const portalServers = (params: { readonly orgSlug: string; readonly projectName: string }): Screen => ({
  ...{ label: "Servers and tools", icon: <Waypoints aria-hidden /> },
  link: { to: "/$orgSlug/$projectName/servers", params },
});

/** Pages of a build have addresses of their own, but belong to Deployments. */
export const isBuildPath = (pathname: string): boolean => /^\/[^/]+\/[^/]+\/(build|server)-logs\//.test(pathname);

function allowed(permissions: readonly Permission[], groups: readonly ScreenGroup[]): readonly ScreenGroup[] {
  return groups.map(({ label, items }) => ({
    label,
    items: items.filter(({ permission }) => permission === undefined || permissions.includes(permission)),
  }));
}
