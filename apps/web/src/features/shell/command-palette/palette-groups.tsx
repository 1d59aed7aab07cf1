import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { SavedView } from "@towpath/core/operations/saved-view";
import type { OrganizationAccessView, ProfileView } from "@towpath/core/tenancy/organization";
import {
  BookOpen,
  Building2,
  Copy,
  GitPullRequestArrow,
  Hammer,
  Keyboard,
  Link2,
  LogOut,
  Monitor,
  Moon,
  Package,
  Plus,
  RotateCw,
  Search,
  Sun,
  UserRound,
  Waypoints,
  Wrench,
} from "lucide-react";
import type { ReactNode } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import type { ScreenGroup } from "~/features/shell/navigation/navigation.tsx";
import { organizationScreens } from "~/features/shell/navigation/organization-screens.tsx";
import { ProjectIcon } from "~/features/shell/navigation/project-icon.tsx";
import { contents } from "~/features/site/docs/contents.ts";
import { documentPath } from "~/features/site/docs/document-path.ts";
import type { SearchGroup } from "~/ui/rank-items.ts";
import type { SearchAction } from "~/ui/search-list.tsx";
import type { Theme } from "~/ui/theme.ts";
import { viewsOf } from "./palette-views.tsx";
import { wordsOf } from "./screen-words.ts";

/** Where the palette is opened, which determines its entries. */
export type PalettePlace = {
  readonly profile: ProfileView;
  readonly organization: OrganizationAccessView | null;
  /** The open project, and the screens that its sidebar lists. */
  readonly open: { readonly key: ProjectKey; readonly screens: readonly ScreenGroup[] } | null;
};

/** The open project, once it is loaded. `latest`: the newest build of its default branch. */
type OpenProject = {
  readonly name: string;
  readonly url: string;
  readonly latest: Version | null;
  /** Names of the live version's tools. */
  readonly tools: readonly string[];
  /** Newest first. */
  readonly builds: readonly (Version & {
    readonly commitMessage: string | null;
    readonly branch: { readonly name: string };
  })[];
};

type Version = { readonly id: string; readonly commitSha: string; readonly packageVersion: string | null };

/** Saved views of the organization's lists, and of the open project's. */
type Views = { readonly ofOrganization: readonly SavedView[]; readonly ofProject: readonly SavedView[] };

/** Actions of the entries. */
export type PaletteActions = {
  readonly open: (path: string) => void;
  /** In a new document, so that no cached data of this organization shows up in another. */
  readonly openDocument: (path: string) => void;
  readonly follow: (link: ScreenGroup["items"][number]["link"]) => void;
  readonly switchTo: (organization: ProfileView["organizations"][number]) => void;
  readonly copyUrl: (url: string) => void;
  readonly redeploy: (buildId: string) => void;
  readonly setTheme: (theme: Theme) => void;
  readonly showShortcuts: () => void;
  readonly signOut: () => void;
};

type Group = SearchGroup<SearchAction>;

/** All entries of the palette (UI-4): those of the open server first, and only those that the role may use. */
export function paletteGroups(
  { profile, organization, open }: PalettePlace,
  project: OpenProject | null,
  views: Views,
  actions: PaletteActions,
): readonly Group[] {
  const permissions = organization?.permissions ?? [];
  const ofOpen =
    open && project
      ? [
          {
            label: project.name,
            items: [...pagesOf(open.screens, actions), ...ofProject(project, permissions, actions)],
          },
        ]
      : [];
  const isPortal = ({ kind }: ProfileView["projects"][number]) => kind === "portal";
  const projects = profile.projects.map((each) => ({
    isPortal: isPortal(each),
    entry: entryOf(each, organization, actions),
  }));
  const account = { id: "account", label: "Account", icon: <UserRound />, keywords: ["profile"] };
  const screens = organization ? organizationScreens(organization) : [];
  return [
    ...ofOpen,
    { label: "Servers", items: projects.flatMap((each) => (each.isPortal ? [] : [each.entry])) },
    { label: "Portals", items: projects.flatMap((each) => (each.isPortal ? [each.entry] : [])) },
    ...(open && project ? [toolsOf(open.key, project, actions), buildsOf(open.key, project, actions)] : []),
    { label: "Pages", items: [...pagesOf(screens, actions), { ...account, run: () => actions.open("/account") }] },
    {
      label: "Saved views",
      items: [
        ...(open ? viewsOf(open.key, views.ofProject, actions) : []),
        ...(organization
          ? viewsOf({ orgSlug: organization.slug, projectName: "" }, views.ofOrganization, actions)
          : []),
      ],
    },
    { label: "Documentation", items: documents(actions), isSecondary: true },
    { label: "Organizations", items: organizationsOf(profile, organization, actions) },
    { label: "Actions", items: [...creating(organization, actions), ...personal(actions)] },
  ];
}

function entryOf(
  project: ProfileView["projects"][number],
  organization: OrganizationAccessView | null,
  actions: PaletteActions,
): SearchAction {
  const path = `/${project.orgSlug}/${project.pathName}`;
  const isHere = project.orgSlug === organization?.slug;
  return {
    id: `project-${project.id}`,
    label: project.name,
    icon: <ProjectIcon project={project} />,
    detail: isHere ? undefined : project.orgSlug,
    run: () => (isHere ? actions.open(path) : actions.openDocument(path)),
  };
}

function pagesOf(groups: readonly ScreenGroup[], actions: PaletteActions): SearchAction[] {
  return groups.flatMap(({ label: group, items }) =>
    items.map(({ label, icon, link }) => ({
      id: `page-${group}-${label}`,
      label,
      icon,
      keywords: [...wordsOf(link), group],
      run: () => actions.follow(link),
    })),
  );
}

function ofProject(
  { url, latest }: OpenProject,
  permissions: OrganizationAccessView["permissions"],
  actions: PaletteActions,
): SearchAction[] {
  const copy = {
    id: "copy-url",
    label: "Copy URL",
    keywords: ["endpoint", "address"],
    icon: <Copy />,
    detail: url,
    run: () => actions.copyUrl(url),
  };
  if (latest === null || !permissions.includes("build.start")) return [copy];
  const redeploy = {
    id: "redeploy",
    label: "Rebuild production",
    keywords: ["redeploy", "build again", "deploy"],
    icon: <RotateCw />,
    detail: versionText(latest),
    run: () => actions.redeploy(latest.id),
  };
  return [copy, redeploy];
}

const pathOf = ({ orgSlug, projectName }: ProjectKey) => `/${orgSlug}/${projectName}`;

const toolsOf = (key: ProjectKey, { tools }: OpenProject, actions: PaletteActions): Group => ({
  label: "Tools",
  items: tools.map((tool) => ({
    id: `tool-${tool}`,
    label: tool,
    icon: <Wrench />,
    detail: "Inspector",
    run: () => actions.open(`${pathOf(key)}/inspector?tool=${encodeURIComponent(tool)}`),
  })),
});

const buildsOf = (key: ProjectKey, { builds }: OpenProject, actions: PaletteActions): Group => ({
  label: "Builds",
  items: builds.map((build) => ({
    id: `build-${build.id}`,
    label: build.commitMessage?.split("\n", 1)[0] || versionText(build),
    keywords: [versionText(build), build.commitSha, build.branch.name],
    icon: <Hammer />,
    detail: versionText(build),
    run: () => actions.open(`${pathOf(key)}/build-logs/${build.id}`),
  })),
});

const documents = (actions: PaletteActions): SearchAction[] =>
  contents.flatMap(({ pages }) =>
    pages.map(({ slug, title, description }) => ({
      id: `document-${slug}`,
      label: `Docs: ${title}`,
      keywords: [title, description],
      icon: <BookOpen />,
      run: () => actions.openDocument(documentPath(slug)),
    })),
  );

function organizationsOf(
  profile: ProfileView,
  organization: OrganizationAccessView | null,
  actions: PaletteActions,
): SearchAction[] {
  const others = profile.organizations.filter(({ id }) => id !== organization?.id);
  return [
    ...others.map((other) => ({
      id: `organization-${other.id}`,
      label: `Switch to ${other.name}`,
      keywords: [other.slug],
      icon: <Building2 />,
      run: () => actions.switchTo(other),
    })),
    {
      id: "create-organization",
      label: "Create organization",
      icon: <Plus />,
      run: () => actions.open("/welcome/create-organization"),
    },
  ];
}

function creating(organization: OrganizationAccessView | null, actions: PaletteActions): SearchAction[] {
  if (!organization?.permissions.includes("project.create")) return [];
  const entry = (label: string, icon: ReactNode, path: string, ...keywords: string[]): SearchAction => ({
    id: path,
    label,
    icon,
    keywords: ["create", ...keywords],
    run: () => actions.open(`/${organization.slug}/${path}`),
  });
  return [
    entry("Deploy a new server", <GitPullRequestArrow />, "servers/new", "import", "repository", "git", "url"),
    entry("Add an external server", <Link2 />, "servers/external", "elsewhere", "url"),
    entry("Deploy a package", <Package />, "servers/package", "pypi", "index", "install"),
    entry("Find a server in a registry", <Search />, "servers/registry", "search", "server.json", "published"),
    entry("New portal", <Waypoints />, "portals/new", "combine"),
  ];
}

const themes = [
  { theme: "light", label: "Light theme", icon: <Sun /> },
  { theme: "dark", label: "Dark theme", icon: <Moon /> },
  { theme: "system", label: "System theme", icon: <Monitor /> },
] as const;

function personal(actions: PaletteActions): SearchAction[] {
  return [
    ...themes.map(({ theme, ...entry }) => ({
      id: `theme-${theme}`,
      ...entry,
      keywords: ["appearance", "mode"],
      run: () => actions.setTheme(theme),
    })),
    {
      id: "shortcuts",
      label: "Keyboard shortcuts",
      keywords: ["help"],
      icon: <Keyboard />,
      run: actions.showShortcuts,
    },
    { id: "sign-out", label: "Sign out", keywords: ["log out"], icon: <LogOut />, run: actions.signOut },
  ];
}
