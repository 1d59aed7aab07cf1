import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { openOrganization } from "~/features/app-shell/organization-switcher.tsx";
import { signOut } from "~/features/app-shell/sign-out.ts";
import { useRedeploy } from "~/features/build/redeploy-button.tsx";
import { branchesQuery } from "~/features/deployment/deployment.functions.ts";
import { projectQuery } from "~/features/project-screen/project-screen.functions.ts";
import type { SearchGroup } from "~/ui/rank-items.ts";
import type { SearchAction } from "~/ui/search-list.tsx";
import { setTheme } from "~/ui/theme.ts";
import { toast } from "~/ui/toast.ts";
import { type PalettePlace, paletteGroups } from "./palette-groups.tsx";

/** Which of the two dialogs is open. */
export type OpenDialog = "palette" | "shortcuts" | null;

/** What the palette offers here. */
export function useCommands(place: PalettePlace, onShortcuts: () => void): readonly SearchGroup<SearchAction>[] {
  const router = useRouter();
  const key = place.open?.key ?? { orgSlug: "", projectName: "" };
  const { data: project } = useQuery({ ...projectQuery(key), enabled: place.open !== null });
  const { data: branches } = useQuery({ ...branchesQuery(key), enabled: project?.kind === "hosted" });
  const redeploy = useRedeploy(key);
  const latest = branches?.find(({ isDefault }) => isDefault)?.latestBuild ?? null;
  return paletteGroups(place, project ? { name: project.name, url: project.url, latest } : null, {
    open: (path) => router.history.push(path),
    openAnew: (path) => window.location.assign(path),
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
