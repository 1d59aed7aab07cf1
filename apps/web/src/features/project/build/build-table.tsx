import { Link } from "@tanstack/react-router";
import type { BuildSummary } from "@towpath/core/delivery/build";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import { ArrowUpToLine, Ellipsis, FileText, RotateCw, ScrollText, Undo2 } from "lucide-react";
import { useState } from "react";
import {
  BuildStatusLabel,
  buildDuration,
  commitTitle,
  isRunning,
  triggerLabel,
} from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Duration, RunningDuration } from "~/ui/duration.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { useOrderInAddress, useSorted } from "~/ui/use-sorted.ts";
import { CommitLine } from "./commit-line.tsx";
import { type GoLive, GoLiveDialog, goLiveLabels, useWaysToGoLive } from "./go-live-dialog.tsx";
import { useRedeploy } from "./redeploy-button.tsx";

const sortedBy = {
  Status: ({ status }: BuildSummary) => status,
  Commit: ({ commitMessage }: BuildSummary) => commitTitle(commitMessage),
  "Started by": ({ startedBy, commitAuthor }: BuildSummary) => startedBy ?? commitAuthor,
  Duration: buildDuration,
  Created: ({ createdAt }: BuildSummary) => createdAt,
};

type BuildTableProps = {
  project: ProjectKey;
  builds: readonly BuildSummary[];
  isPackage: boolean;
  /** Whether all builds are loaded. */
  isWhole: boolean;
};

/** Builds, newest first, each linking to its page (PRJ-2). */
export function BuildTable({ project, builds, isPackage, isWhole }: BuildTableProps) {
  const { rows, sort } = useSorted(builds, sortedBy, isWhole, useOrderInAddress());
  return (
    <Table label="Builds">
      <TableHead hasActions>
        <Th sort={sort("Status")}>Status</Th>
        <Th className="w-1/2" sort={sort("Commit")}>
          {isPackage ? "Version" : "Commit"}
        </Th>
        <Th sort={sort("Started by")}>Started by</Th>
        <Th sort={sort("Duration")}>Duration</Th>
        <Th sort={sort("Created")}>Created</Th>
      </TableHead>
      <TableBody>
        {rows.map((build) => (
          <BuildRow key={build.id} project={project} build={build} isPackage={isPackage} />
        ))}
      </TableBody>
    </Table>
  );
}

function BuildRow({ project, build, isPackage }: { project: ProjectKey; build: BuildSummary; isPackage: boolean }) {
  const duration = buildDuration(build);
  const params = { ...project, buildId: build.id };
  return (
    <Tr className="relative">
      <Td>
        <BuildStatusLabel build={build} warnings={build.warningCount} />
      </Td>
      <Td wide className="max-w-0 max-sm:row-start-1 max-sm:max-w-none max-sm:pr-9!">
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={params}
          data-row
          className="block min-h-6 truncate leading-6 font-medium underline-offset-2 after:absolute after:inset-0 hover:underline"
        >
          {commitTitle(build.commitMessage)}
        </Link>
        {isPackage ? null : <CommitLine commit={{ ...build, branch: build.branch.name }} />}
        {build.diagnosis && <p className="truncate text-xs text-bad">{build.diagnosis.title}</p>}
      </Td>
      <Td className="whitespace-nowrap text-muted max-sm:hidden">
        {triggerLabel(build)}
        <span className="block max-w-40 truncate text-xs text-faint">{build.startedBy ?? build.commitAuthor}</span>
      </Td>
      <Td className="whitespace-nowrap text-muted max-sm:hidden">
        {duration !== null && <Duration ms={duration} />}
        {duration === null && isRunning(build.status) && build.startedAt && <RunningDuration since={build.startedAt} />}
      </Td>
      <Td className="whitespace-nowrap text-muted max-sm:text-right">
        <RelativeTime time={build.createdAt} />
      </Td>
      <Td className="relative z-10 w-10 text-right max-sm:absolute max-sm:top-2 max-sm:right-2.5 max-sm:w-auto">
        <BuildMenu project={project} build={build} />
      </Td>
    </Tr>
  );
}

function BuildMenu({ project, build }: { project: ProjectKey; build: BuildSummary }) {
  const redeploy = useRedeploy(project);
  const mayBuild = useMay("build.start");
  const ways = useWaysToGoLive(build);
  const [asked, setAsked] = useState<GoLive | null>(null);
  const params = { ...project, buildId: build.id };
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for build ${versionText(build)}`} size="sm">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem icon={<FileText />} render={<Link to="/$orgSlug/$projectName/build-logs/$buildId" params={params} />}>
          Build log
        </MenuItem>
        {build.deployment && (
          <MenuItem
            icon={<ScrollText />}
            render={<Link to="/$orgSlug/$projectName/server-logs/$buildId" params={params} />}
          >
            Server log
          </MenuItem>
        )}
        {ways.map((way) => (
          <MenuItem key={way} icon={way === "promote" ? <ArrowUpToLine /> : <Undo2 />} onClick={() => setAsked(way)}>
            {goLiveLabels[way]}
          </MenuItem>
        ))}
        {mayBuild && !build.branch.isEnded && (
          <MenuItem icon={<RotateCw />} onClick={() => redeploy.mutate(build.id)} disabled={redeploy.isPending}>
            Rebuild this commit
          </MenuItem>
        )}
      </Menu>
      {ways.map((way) => (
        <GoLiveDialog
          key={way}
          project={project}
          way={way}
          version={build}
          open={asked === way}
          onOpenChange={(open) => setAsked(open ? way : null)}
        />
      ))}
    </>
  );
}
