import { useMatches } from "@tanstack/react-router";
import type { Permission } from "@towpath/core/authorize";
import type { ProjectKind } from "@towpath/core/projects/project";
import { projectScreens } from "~/features/shell/navigation/navigation.tsx";

const projectRoute = "/$orgSlug/$projectName";

/** The path segment of the open project; null on other pages, and for unknown projects. */
export function useOpenProject(): string | null {
  return useMatches({
    select: (matches) => {
      const match = matches.find(({ routeId }) => routeId === projectRoute);
      return match && match.status === "success" ? (match.params as { projectName: string }).projectName : null;
    },
  });
}

/** Whether a step of the onboarding is open, which has no navigation. */
export const useIsOnboarding = (): boolean =>
  useMatches({ select: (matches) => matches.some(({ routeId }) => routeId.startsWith("/$orgSlug/welcome/")) });

/**
 * The path after the project's segment, such as "/logs", to open the same screen of another project. Empty for screens
 * of an item, which the other project doesn't have.
 */
export function useOpenScreen(): string {
  return useMatches({ select: (matches) => screenOf(matches.at(-1)?.routeId ?? "") });
}

export function screenOf(routeId: string): string {
  if (!routeId.startsWith(`${projectRoute}/`)) return "";
  const screen = routeId.slice(projectRoute.length).replace(/\/?\{-\$\w+\}$/, "");
  return screen.includes("$") || screen === "/" ? "" : screen.replace(/\/$/, "");
}

/** Whether this project has a screen, such as "/logs", for a role. */
export function hasScreen(
  project: Parameters<typeof projectScreens>[0] & { readonly kind: ProjectKind },
  permissions: readonly Permission[],
  screen: string,
): boolean {
  const groups = projectScreens(project, permissions, { branchId: null, kind: project.kind });
  return groups.some(({ items }) => items.some(({ link }) => screenOf(link.to ?? "") === screen));
}
