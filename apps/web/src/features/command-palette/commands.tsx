import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import type { OrganizationAccessView, ProfileView } from "@towpath/core/organization";
import {
  Building2,
  Copy,
  GitPullRequestArrow,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Plus,
  RotateCw,
  Server,
  Sun,
  UserRound,
} from "lucide-react";
import { organizationScreens, type ScreenGroup } from "~/features/app-shell/navigation.tsx";
import { openOrganization } from "~/features/app-shell/organization-switcher.tsx";
import { signOut } from "~/features/app-shell/sign-out.ts";
import { useRedeploy } from "~/features/build/redeploy-button.tsx";
import { branchesQuery } from "~/features/deployment/deployment.functions.ts";
import type { ProjectKey } from "~/features/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/project-screen/project-screen.functions.ts";
import type { SearchGroup } from "~/ui/rank-items.ts";
import type { SearchAction } from "~/ui/search-list.tsx";
import { setTheme, type Theme } from "~/ui/theme.ts";
import { toast } from "~/ui/toast.ts";

/** Which of the two dialogs is open. */
export type OpenDialog = "palette" | "shortcuts" | null;

/** Where the palette is opened: what it offers depends on it. */
export type PalettePlace = {
  readonly profile: ProfileView;
  readonly organization: OrganizationAccessView | null;
  /** The open project, and the screens that its sidebar lists. */
  readonly open: { readonly key: ProjectKey; readonly screens: readonly ScreenGroup[] } | null;
};

/** Everything that the palette offers here: what concerns the open server first. */
export function useCommands(place: PalettePlace, onShortcuts: () => void): readonly SearchGroup<SearchAction>[] {
  const router = useRouter();
  const server = useServerCommands(place);
  const { profile, organization } = place;
  const to = (path: string) => () => router.history.push(path);
  const servers = profile.projects.map((project) => ({
    id: `server-${project.id}`,
    label: project.name,
    icon: <Server aria-hidden />,
    note: project.orgSlug === organization?.slug ? undefined : project.orgSlug,
    run:
      project.orgSlug === organization?.slug
        ? to(`/${project.orgSlug}/${project.pathName}`)
        : // Another organization: a new document, so that nothing cached of this one shows up there.
          () => window.location.assign(`/${project.orgSlug}/${project.pathName}`),
  }));
  const screens = organization ? organizationScreens(organization) : [];
  const pages = [
    ...pagesOf(screens, router),
    { id: "account", label: "Account", icon: <UserRound aria-hidden />, keywords: ["profile"], run: to("/account") },
  ];
  const others = profile.organizations.filter(({ id }) => id !== organization?.id);
  const organizations = others.map((other) => ({
    id: `organization-${other.id}`,
    label: `Switch to ${other.name}`,
    keywords: [other.slug],
    icon: <Building2 aria-hidden />,
    run: () => void openOrganization(other).catch(() => {}),
  }));
  const create = {
    id: "create-organization",
    label: "Create organization",
    icon: <Plus aria-hidden />,
    run: to("/welcome/create-organization"),
  };
  return [
    ...server,
    { label: "Servers", items: servers },
    { label: "Pages", items: pages },
    { label: "Organizations", items: [...organizations, create] },
    { label: "Actions", items: [...deployCommands(organization, to), ...ownCommands(onShortcuts)] },
  ];
}

/** Screens and actions of the open server. */
function useServerCommands({ open, organization }: PalettePlace): readonly SearchGroup<SearchAction>[] {
  const router = useRouter();
  const key = open?.key ?? { orgSlug: "", projectName: "" };
  const isOpen = open !== null;
  const { data: project } = useQuery({ ...projectQuery(key), enabled: isOpen });
  const { data: branches } = useQuery({ ...branchesQuery(key), enabled: isOpen });
  const redeploy = useRedeploy(key);
  if (!open || !project) return [];
  const latest = branches?.find(({ isDefault }) => isDefault)?.latestBuild;
  const mayBuild = organization?.permissions.includes("build.start") ?? false;
  const copy = {
    id: "copy-url",
    label: "Copy URL",
    keywords: ["endpoint", "address"],
    icon: <Copy aria-hidden />,
    note: project.url,
    run: () => void copyText(project.url),
  };
  const rebuild = latest && {
    id: "redeploy",
    label: "Redeploy production",
    keywords: ["build again", "deploy"],
    icon: <RotateCw aria-hidden />,
    note: latest.commitSha.slice(0, 7),
    run: () => redeploy.mutate(latest.id),
  };
  const actions = [copy, ...(rebuild && mayBuild ? [rebuild] : [])];
  return [{ label: project.name, items: [...pagesOf(open.screens, router), ...actions] }];
}

function pagesOf(groups: readonly ScreenGroup[], router: ReturnType<typeof useRouter>): SearchAction[] {
  return groups.flatMap(({ label: group, items }) =>
    items.map(({ label, icon, link, keywords = [] }) => ({
      id: `page-${group}-${label}`,
      label,
      icon,
      keywords: [...keywords, group],
      run: () => void router.navigate(link),
    })),
  );
}

function deployCommands(
  organization: OrganizationAccessView | null,
  to: (path: string) => () => void,
): readonly SearchAction[] {
  if (!organization?.permissions.includes("project.create")) return [];
  return [
    {
      id: "deploy",
      label: "Deploy a new server",
      keywords: ["create", "import", "repository"],
      icon: <GitPullRequestArrow aria-hidden />,
      run: to(`/${organization.slug}/welcome/server-setup`),
    },
  ];
}

const themeCommands: readonly { theme: Theme; label: string; icon: React.ReactNode }[] = [
  { theme: "light", label: "Light theme", icon: <Sun aria-hidden /> },
  { theme: "dark", label: "Dark theme", icon: <Moon aria-hidden /> },
  { theme: "system", label: "Theme of the system", icon: <Monitor aria-hidden /> },
];

function ownCommands(onShortcuts: () => void): readonly SearchAction[] {
  return [
    ...themeCommands.map(({ theme, label, icon }) => ({
      id: `theme-${theme}`,
      label,
      icon,
      keywords: ["appearance", "mode"],
      run: () => setTheme(theme),
    })),
    {
      id: "shortcuts",
      label: "Keyboard shortcuts",
      keywords: ["help"],
      icon: <Keyboard aria-hidden />,
      run: onShortcuts,
    },
    { id: "sign-out", label: "Sign out", keywords: ["log out"], icon: <LogOut aria-hidden />, run: signOut },
  ];
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast.success("URL copied");
  } catch {
    toast.error("The browser didn't allow copying. Select the text and copy it yourself.");
  }
}
