import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useRedeploy } from "~/features/project/build/redeploy-button.tsx";
import { buildsQuery, toolNamesQuery } from "~/features/project/delivery/build.functions.ts";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { viewsQuery } from "~/features/shared/saved-views/saved-views.functions.ts";
import { openOrganization } from "~/features/shell/navigation/organization-switcher.tsx";
import { signOut } from "~/features/shell/navigation/sign-out.ts";
import type { SearchGroup } from "~/ui/rank-items.ts";
import type { SearchAction } from "~/ui/search-list.tsx";
import { setTheme } from "~/ui/theme.ts";
import { toast } from "~/ui/toast.ts";
import { type PalettePlace, paletteGroups } from "./palette-groups.tsx";

/** Which of the two dialogs is open. */
export type OpenDialog = "palette" | "shortcuts" | null;

/** The newest builds: older ones are on their own page. */
const maxBuilds = 30;

/** The palette's entries. */
export function useCommands(place: PalettePlace, onShortcuts: () => void): readonly SearchGroup<SearchAction>[] {
  const router = useRouter();
  const key = place.open?.key ?? { orgSlug: "", projectName: "" };
  const { data: project } = useQuery({ ...projectQuery(key), enabled: place.open !== null });
  const { data: branches } = useQuery({ ...branchesQuery(key), enabled: project?.kind === "hosted" });
  const redeploy = useRedeploy(key);
  const { data: tools = [] } = useQuery({ ...toolNamesQuery(key), enabled: place.open !== null });
  const { data: built } = useInfiniteQuery({ ...buildsQuery(key), enabled: project?.kind === "hosted" });
  const latest = branches?.find(({ isDefault }) => isDefault)?.latestBuild ?? null;
  const builds = built?.pages[0]?.data.slice(0, maxBuilds) ?? [];
  const orgSlug = place.organization?.slug ?? "";
  const { data: ofOrganization = [] } = useQuery({ ...viewsQuery({ orgSlug }), enabled: place.organization !== null });
  const { data: ofProject = [] } = useQuery({ ...viewsQuery(key), enabled: place.open !== null });
  const views = { ofOrganization, ofProject };
  return paletteGroups(place, project ? { name: project.name, url: project.url, latest, tools, builds } : null, views, {
    open: (path) => router.history.push(path),
    openDocument: (path) => window.location.assign(path),
    follow: (link) => void router.navigate(link),
    switchTo: (organization) => void openOrganization(organization).catch(() => {}),
    copyUrl: (url) => void copyText(url),
    redeploy: (buildId) => redeploy.mutate(buildId),
    setTheme,
    showShortcuts: onShortcuts,
    signOut,
  });
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast.success("URL copied");
  } catch {
    toast.error("The browser didn't allow copying. Select the text and copy it yourself.");
  }
}
