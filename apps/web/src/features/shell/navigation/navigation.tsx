import type { Permission } from "@towpath/core/authorize";
import type { ProjectKind } from "@towpath/core/projects/project";
import {
  Activity,
  Bell,
  BookOpen,
  Bot,
  ChartNoAxesColumn,
  CircleUserRound,
  FileCode,
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
import type { ReactNode } from "react";
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

const screen = (
  label: string,
  icon: ReactNode,
  link: Screen["link"],
  rest?: Pick<Screen, "keywords" | "permission" | "exact">,
): Screen => ({ label, icon, link, ...rest });

const words = (...keywords: readonly string[]) => ({ keywords });

/** The screens of an organization, for a role. */
export function organizationScreens(organization: {
  readonly slug: string;
  readonly permissions: readonly Permission[];
}): readonly ScreenGroup[] {
  const params = { orgSlug: organization.slug };
  const settings = <const Page extends string>(page: Page) => ({ to: `/$orgSlug/settings/${page}` as const, params });
  const forGeneral = { permission: "organization.manage", ...words("name", "address", "delete organization") } as const;
  const forInstance = { permission: "organization.manage", ...words("isolation", "disk") } as const;
  const forAuditLog = { permission: "audit.read", ...words("history", "who changed", "export") } as const;
  const forGitHub = { permission: "installation.read", ...words("connect", "repositories") } as const;
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
        screen("API keys", <KeyRound />, settings("api-keys"), {
          permission: "apiKey.read",
          ...words("token", "workload", "cluster"),
        }),
        screen("GitHub", <GitBranch />, settings("github"), forGitHub),
        screen("Alerts", <Bell />, settings("alerts"), {
          permission: "alert.read",
          ...words("Slack", "webhook", "mail"),
        }),
        screen("Members", <Users />, settings("members"), words("invite", "people", "team", "roles")),
        screen("Audit log", <ScrollText />, settings("audit-log"), forAuditLog),
        screen("General", <Settings2 />, settings("general"), forGeneral),
        screen("Instance", <ShieldCheck />, settings("instance"), forInstance),
      ],
    },
    {
      label: "Your account",
      items: [
        screen("Profile", <CircleUserRound />, settings("profile"), words("name", "email")),
        screen("Security", <Fingerprint />, settings("security"), {
          keywords: ["password", "two-factor", "authenticator", "connected apps"],
        }),
        screen("Sessions", <MonitorSmartphone />, settings("sessions"), words("sign out everywhere", "devices")),
        screen("Preferences", <Palette />, settings("preferences"), words("theme", "dark", "light")),
      ],
    },
    {
      label: "Help",
      items: [screen("Documentation", <BookOpen />, { to: "/docs" }, words("docs", "guide", "manual"))],
    },
  ]);
}

type ShownProject = {
  readonly branchId: string | null;
  readonly kind: ProjectKind;
  /** Whether it runs a package, whose code isn't here. */
  readonly isPackage?: boolean;
};

/** The screens of a project of this kind, for a role. `branchId`: of screens with a branch; null: the default branch. */
export function projectScreens(
  project: { readonly orgSlug: string; readonly projectName: string },
  permissions: readonly Permission[],
  { branchId, kind, isPackage }: ShownProject,
): readonly ScreenGroup[] {
  const { orgSlug, projectName } = project;
  const params = { orgSlug, projectName };
  const to = <const Page extends string>(page: Page) => ({ to: `/$orgSlug/$projectName/${page}` as const, params });
  const ofBranch = { params, search: branchId === null ? {} : { branchId } };
  const overview = { to: "/$orgSlug/$projectName", ...ofBranch } as const;
  const chat = screen("Chat", <Bot />, { ...to("chat"), ...ofBranch }, words("ask", "model", "assistant"));
  const deployments = screen("Deployments", <Rocket />, to("deployments"), words("builds", "previews", "branches"));
  const code = screen("Code", <FileCode />, to("code"), {
    permission: "build.start",
    ...words("files", "edit", "commit", "repository"),
  });
  const forClients = { permission: "client.read" } as const;
  return allowed(permissions, [
    {
      label: kind === "portal" ? "Portal" : "Server",
      items: [
        screen("Overview", <ChartNoAxesColumn />, overview, { exact: true }),
        ...(kind === "portal" ? [screen("Servers and tools", <Waypoints />, to("servers"))] : []),
        screen("Inspector", <SquareTerminal />, { ...to("inspector"), ...ofBranch }, words("call a tool")),
        // A chat is with a deployment.
        ...(kind === "hosted" ? [chat] : []),
        screen("Logs", <Activity />, to("logs"), words("requests", "calls", "errors")),
        ...(kind === "hosted" ? [deployments] : []),
        ...(kind === "hosted" && !isPackage ? [code] : []),
      ],
    },
    {
      label: "Connect",
      items: [
        screen("Clients", <Plug />, to("clients"), forClients),
        screen("Sign-ins", <Stethoscope />, to("sign-ins"), { ...forClients, ...words("oauth") }),
        screen("Admin JWT", <KeyRound />, to("admin-jwt"), { permission: "adminJwt.manage", ...words("token") }),
      ],
    },
    {
      label: "Usage",
      items: [
        screen("Sessions", <MessagesSquare />, to("sessions")),
        screen("Users", <Users />, to("users")),
        screen("Tools", <Wrench />, to("tools/{-$toolName}")),
        screen("Resources", <FileText />, to("resources/{-$resourceName}")),
        screen("Templates", <LayoutTemplate />, to("resource-templates/{-$templateName}")),
        screen("Prompts", <MessageSquareText />, to("prompts/{-$promptName}")),
      ],
    },
    {
      label: "Configure",
      items: [
        screen("Access", <ShieldHalf />, to("access"), words("roles", "permissions")),
        screen("Limits", <Gauge />, to("limits"), words("rate")),
        screen("Settings", <Settings />, to("settings"), words("environment variables", "entrypoint", "delete")),
      ],
    },
  ]);
}

/** Pages of a build have addresses of their own, but belong to Deployments. */
export const isBuildPath = (pathname: string): boolean => /^\/[^/]+\/[^/]+\/(build|server)-logs\//.test(pathname);

function allowed(permissions: readonly Permission[], groups: readonly ScreenGroup[]): readonly ScreenGroup[] {
  return groups.map(({ label, items }) => ({
    label,
    items: items.filter(({ permission }) => permission === undefined || permissions.includes(permission)),
  }));
}
