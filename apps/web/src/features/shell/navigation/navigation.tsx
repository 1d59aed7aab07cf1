import type { Permission } from "@towpath/core/authorize";
import type { ProjectKind } from "@towpath/core/projects/project";
import {
  Activity,
  Bot,
  ChartNoAxesColumn,
  CircleAlert,
  FileCode,
  Gauge,
  KeyRound,
  MessagesSquare,
  Plug,
  Rocket,
  ScrollText,
  Settings,
  ShieldHalf,
  SquareTerminal,
  Stethoscope,
  Users,
  Waypoints,
  Wrench,
} from "lucide-react";
import type { ReactNode } from "react";
import type { PageTabs } from "~/ui/page-tabs.tsx";
import type { SidebarItem } from "~/ui/sidebar-layout.tsx";

/** A screen that the sidebar and the command palette lead to. */
type Screen = Omit<SidebarItem, "active"> & {
  /** Its name among the tabs of its section; default: `label`. */
  readonly tab?: string;
  /** Only roles with this permission see the entry. */
  readonly permission?: Permission;
};
/** `icon`: of a section, which is one entry of the sidebar, with its screens as tabs of a page. */
export type ScreenGroup = { readonly label: string; readonly icon?: ReactNode; readonly items: readonly Screen[] };
/** `label` names the open project or organization. */
export type Navigation = {
  readonly label: string;
  /** The sidebar's links. */
  readonly groups: readonly { readonly label: string; readonly items: readonly SidebarItem[] }[];
  /** All screens, for the palette. */
  readonly screens: readonly ScreenGroup[];
  /** Those of the open section; null without others. */
  readonly tabs: PageTabs | null;
};

export const screen = (
  label: string,
  icon: ReactNode,
  link: Screen["link"],
  rest?: Pick<Screen, "permission" | "tab">,
): Screen => ({ label, icon, link, ...rest });

type ShownProject = {
  readonly branchId: string | null;
  readonly kind: ProjectKind;
  /** Whether it runs a package, whose code isn't here. */
  readonly isPackage?: boolean;
};

/** The sections of a project with their screens, for a role. `branchId`: of screens with a branch; null: the default one. */
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
  const isHosted = kind === "hosted";
  const only = (isShown: boolean, shown: Screen) => (isShown ? [shown] : []);
  const section = (label: string, icon: ReactNode, ...items: readonly Screen[]) => ({ label, icon, items });
  const single = (shown: Screen) => section(shown.label, shown.icon, shown);
  const forClients = { permission: "client.read" } as const;
  const sections = [
    single(screen("Overview", <ChartNoAxesColumn />, overview)),
    section(
      "Try it",
      <SquareTerminal />,
      screen("Inspector", <SquareTerminal />, { ...to("inspector"), ...ofBranch }),
      // A chat is with a deployment.
      ...only(isHosted, screen("Chat", <Bot />, { ...to("chat"), ...ofBranch })),
      screen("Surface", <Wrench />, to("surface")),
    ),
    ...(kind === "portal" ? [single(screen("Servers and tools", <Waypoints />, to("servers")))] : []),
    section(
      "Logs",
      <Activity />,
      screen("Logs", <Activity />, to("logs"), { tab: "Calls" }),
      screen("Errors", <CircleAlert />, to("errors")),
      screen("Sessions", <MessagesSquare />, to("sessions")),
      screen("Users", <Users />, to("users")),
      ...only(isHosted, screen("Server output", <ScrollText />, to("server-logs"))),
      screen("Sign-ins", <Stethoscope />, to("sign-ins"), forClients),
    ),
    section(
      "Deployments",
      <Rocket />,
      ...only(isHosted, screen("Deployments", <Rocket />, to("deployments"))),
      ...only(isHosted && !isPackage, screen("Code", <FileCode />, to("code"), { permission: "build.start" })),
    ),
    section(
      "Settings",
      <Settings />,
      screen("Settings", <Settings />, to("settings"), { tab: "General" }),
      screen("Access", <ShieldHalf />, to("access")),
      screen("Limits", <Gauge />, to("limits")),
      screen("Clients", <Plug />, to("clients"), forClients),
      screen("Admin JWT", <KeyRound />, to("admin-jwt"), { permission: "adminJwt.manage" }),
    ),
  ];
  return allowed(permissions, sections).filter(({ items }) => items.length > 0);
}

/** A project's sections in the sidebar, and the open one's tabs. `shown`: the path of the page while the next one loads. */
export function projectNavigation(
  projectName: string,
  kind: ProjectKind,
  screens: readonly ScreenGroup[],
  { pathname, shown }: { readonly pathname: string; readonly shown: string },
): Navigation {
  const isAt =
    (path: string) =>
    ({ link }: Screen) =>
      segmentOf(link.to ?? "") === segmentOf(path);
  const items = screens.flatMap((section): SidebarItem[] =>
    section.items.slice(0, 1).map(({ link }) => ({
      label: section.label,
      icon: section.icon,
      link,
      exact: true,
      active: section.items.some(isAt(pathname)),
    })),
  );
  const open = screens.find((section) => section.items.some(isAt(shown)));
  const tabs = open?.items.map(({ label, tab = label, link }, at, all) => ({
    label: tab,
    link,
    isOpen: at === all.findIndex(isAt(shown)),
  }));
  return {
    label: `Screens of ${projectName}`,
    groups: [{ label: kind === "portal" ? "Portal" : "Server", items }],
    screens,
    tabs: open && tabs && tabs.length > 1 ? { label: open.label, tabs } : null,
  };
}

/** The segment after the project's, in a path or a route. A build's page belongs to the deployments. */
function segmentOf(path: string): string {
  const segment = path.split("/")[3] ?? "";
  return segment === "build-logs" ? "deployments" : segment;
}

/** What a role may see. */
export function allowed(permissions: readonly Permission[], groups: readonly ScreenGroup[]): readonly ScreenGroup[] {
  return groups.map(({ items, ...group }) => ({
    ...group,
    items: items.filter(({ permission }) => permission === undefined || permissions.includes(permission)),
  }));
}
