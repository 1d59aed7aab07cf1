import { Link } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import { ScrollText, SquareTerminal } from "lucide-react";
import { CommitSummary } from "~/features/project/build/commit-line.tsx";
import { OneWayButton } from "~/features/project/build/go-live-dialog.tsx";
import { MakeNewestLive } from "~/features/project/build/rolled-back.tsx";
import { ConnectButton } from "~/features/project/clients/connect-button.tsx";
import type { BranchItem } from "~/features/project/delivery/deployment.functions.ts";
import { nextVersionText, rolledBackText } from "~/features/project/delivery/live-version.ts";
import { branchTitle, forkOf } from "~/features/shared/project-screen/branch-title.ts";
import { BuildStatusLabel } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ServerUrl } from "~/features/shared/project-screen/project-labels.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { SkippedPush } from "./skipped-push.tsx";

/** Every branch except the default one, with the commit that its URL serves. */
export function PreviewList({ project, branches }: { project: ProjectKey; branches: readonly BranchItem[] }) {
  if (branches.length === 0) return null;
  return (
    <Card>
      <CardHeader title="Previews" description="Each branch has its own URL, separate from production." />
      <ul aria-label="Previews" className="divide-y border-t">
        {branches.map((branch) => (
          <Preview key={branch.id} project={project} branch={branch} />
        ))}
      </ul>
    </Card>
  );
}

function Preview({ project, branch }: { project: ProjectKey; branch: BranchItem }) {
  const { liveBuild, latestBuild, deployment } = branch;
  const shown = liveBuild ?? latestBuild;
  const newer = latestBuild && latestBuild.id !== liveBuild?.id ? latestBuild : null;
  return (
    <li className="flex flex-wrap items-center gap-x-5 gap-y-2 px-4 py-2.5 text-sm">
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-0.5">
        {shown ? (
          <CommitSummary commit={{ ...shown, branch: branch.name, prNumber: branch.prNumber, prUrl: branch.prUrl }} />
        ) : (
          branchTitle(branch.name)
        )}
        {liveBuild?.isRolledBack ? (
          <span className="text-xs text-muted">
            {rolledBackText(liveBuild)}. {nextVersionText(liveBuild, branch.name)}
          </span>
        ) : null}
        {newer && <NewestBuild project={project} build={newer} isLive={liveBuild !== null} />}
      </div>
      {newer?.status === "failed" ? (
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={{ ...project, buildId: newer.id }}
          className={buttonLook({ size: "sm" })}
        >
          <ScrollText /> See why
        </Link>
      ) : null}
      {liveBuild && deployment && (
        <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">
          <ServerUrl url={deployment.url} />
          <ConnectButton projectKey={project} branchId={branch.id} size="sm" />
          <Link
            to="/$orgSlug/$projectName/inspector"
            params={project}
            search={{ branchId: branch.id }}
            className={buttonLook({ size: "sm" })}
          >
            <SquareTerminal /> Inspect
          </Link>
          <MakeNewestLive project={project} branch={branch.name} live={liveBuild} size="sm" />
          <PromoteButton project={project} branch={branch} />
        </div>
      )}
      <SkippedPush project={project} branch={branch} />
    </li>
  );
}

function PromoteButton({ project, branch }: { project: ProjectKey; branch: BranchItem }) {
  const mayBuild = useMay("build.start");
  if (!mayBuild || !branch.liveBuild || forkOf(branch.name) !== null) return null;
  // Packages have no previews.
  const version = { ...branch.liveBuild, packageVersion: null, branch, deployment: branch.deployment };
  return <OneWayButton project={project} way="promote" version={version} size="sm" />;
}

type NewestBuildProps = {
  project: ProjectKey;
  build: NonNullable<BranchItem["latestBuild"]>;
  isLive: boolean;
};

/** The newest build of a preview if its URL serves another one. */
function NewestBuild({ project, build, isLive }: NewestBuildProps) {
  return (
    <Link
      to="/$orgSlug/$projectName/build-logs/$buildId"
      params={{ ...project, buildId: build.id }}
      className="flex min-h-6 flex-wrap items-center gap-x-2 text-xs underline-offset-3 hover:underline"
    >
      <BuildStatusLabel build={build} />
      {isLive && <code className="text-muted">{versionText(build)}</code>}
      <RelativeTime time={build.createdAt} className="text-muted" />
    </Link>
  );
}
