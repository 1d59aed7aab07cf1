import { useQuery } from "@tanstack/react-query";
import { useLocation, useParams, useRouter } from "@tanstack/react-router";
import { Check, GitBranch } from "lucide-react";
import { useState } from "react";
import { buildQuery } from "~/features/project/delivery/build.functions.ts";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { branchTitle } from "~/features/shared/project-screen/branch-title.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useOpenBranch } from "~/features/shared/project-screen/use-open-branch.ts";
import { Switcher } from "~/ui/switcher.tsx";
import { useOpenScreen } from "./shell-location.ts";

/** Screens that show one branch, by the search parameter `branchId`. */
const screensOfBranch: ReadonlySet<string> = new Set(["", "/inspector", "/chat"]);

/** Whether the open project has branches: only those built from a repository do. True while loading. */
export function useHasBranches(open: ProjectKey): boolean {
  const { data: project } = useQuery(projectQuery(open));
  return project === undefined || (project.kind === "hosted" && project.package === null);
}

/**
 * Shows the branch of the open screen or build, and switches to another one; from screens of the whole server to its
 * overview.
 */
export function BranchSwitcher({ open, className }: { readonly open: ProjectKey; readonly className?: string }) {
  const [isOpened, setOpened] = useState(false);
  const { buildId } = useParams({ strict: false });
  const { data: build } = useQuery({ ...buildQuery(open, buildId ?? ""), enabled: buildId !== undefined });
  const openBranch = useOpenBranch();
  const branchId = build?.branch.id ?? openBranch;
  const screen = useOpenScreen();
  const { pathname } = useLocation();
  const { history } = useRouter();
  const { data: project } = useQuery(projectQuery(open));
  const { data: branches } = useQuery({ ...branchesQuery(open), enabled: isOpened || openBranch !== null });
  const current = branches?.find(({ id, isDefault }) => (branchId === null ? isDefault : id === branchId));
  const overview = `/${open.orgSlug}/${open.projectName}`;
  const choices = (branches ?? []).map((branch) => ({
    id: branch.id,
    label: branchTitle(branch.name),
    icon: branch.id === current?.id ? <Check /> : <GitBranch />,
    detail: branch.isDefault ? "Production" : branch.deployment ? "Preview" : "Not live",
    run: () => {
      const path = screensOfBranch.has(screen) && !isOtherScreen(pathname, overview, screen) ? pathname : overview;
      history.push(branch.isDefault ? path : `${path}?branchId=${branch.id}`);
    },
  }));
  return (
    <Switcher
      label="Switch branch"
      placeholder="Find a branch"
      groups={[{ label: "Branches", items: choices }]}
      empty={branches ? "No branch has that name." : "Loading branches…"}
      className={className ?? ""}
      icon={<GitBranch className="size-3.5 text-faint" />}
      onOpen={() => setOpened(true)}
    >
      {branchTitle(build?.branch.name ?? current?.name ?? "") ||
        (branchId === null ? project?.defaultBranch : "Unknown branch")}
    </Switcher>
  );
}

/** Pages of an item have no screen name, but aren't the overview. */
const isOtherScreen = (pathname: string, overview: string, screen: string) =>
  screen === "" && pathname.replace(/\/$/, "") !== overview;
