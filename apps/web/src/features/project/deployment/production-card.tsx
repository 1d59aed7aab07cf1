import { Link } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import { ScrollText, SquareTerminal } from "lucide-react";
import { AuthModeButton } from "~/features/project/build/auth-mode-button.tsx";
import { BuildWarnings } from "~/features/project/build/build-warnings.tsx";
import { CommitSummary } from "~/features/project/build/commit-line.tsx";
import { RedeployButton } from "~/features/project/build/redeploy-button.tsx";
import { RolledBack } from "~/features/project/build/rolled-back.tsx";
import type { BranchItem } from "~/features/project/delivery/deployment.functions.ts";
import { rolledBackText } from "~/features/project/delivery/live-version.ts";
import {
  BuildStatusLabel,
  commitTitle,
  isRunning,
  withWarnings,
} from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ServerUrl } from "~/features/shared/project-screen/project-labels.tsx";
import { StatusDot, type Tone } from "~/ui/badge.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { SkippedPush } from "./skipped-push.tsx";

type ProductionCardProps = {
  project: ProjectKey;
  branch: BranchItem;
  isPackage: boolean;
};

/** The default branch's live deployment, which answers under the project's name. */
export function ProductionCard({ project, branch, isPackage }: ProductionCardProps) {
  const { deployment, latestBuild, liveBuild } = branch;
  const warnings = liveBuild?.warnings ?? [];
  const isShownAbove = latestBuild !== null && latestBuild.id === liveBuild?.rolledBackFrom?.buildId;
  const newer = latestBuild && latestBuild.id !== liveBuild?.id && !isShownAbove ? latestBuild : null;
  return (
    <Card aria-label="Production">
      <div className="flex flex-wrap items-start gap-x-10 gap-y-4 p-4">
        <div className="flex min-w-0 flex-1 basis-80 flex-col gap-2.5">
          <h2 className="flex items-center gap-2 text-lg font-semibold tracking-tight">
            <StatusDot tone={toneOf(branch)} />
            {productionText(branch)}
          </h2>
          {deployment ? (
            <ServerUrl url={deployment.url} className="self-start" />
          ) : (
            <p className="text-sm text-muted">{waitingText(latestBuild?.status, branch.name)}</p>
          )}
        </div>
        {liveBuild && (
          <dl className="grid min-w-0 basis-96 grid-cols-[5.5rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-sm">
            <dt className="text-muted">{isPackage ? "Version" : "Commit"}</dt>
            <dd className="min-w-0">
              {isPackage ? (
                commitTitle(liveBuild.commitMessage)
              ) : (
                <CommitSummary commit={{ ...liveBuild, branch: branch.name }} />
              )}
            </dd>
            <dt className="text-muted">Live since</dt>
            <dd>
              <RelativeTime time={liveBuild.liveSince} />
            </dd>
            {liveBuild.commitAuthor && (
              <>
                <dt className="text-muted">Author</dt>
                <dd className="truncate">{liveBuild.commitAuthor}</dd>
              </>
            )}
            {liveBuild.counts && (
              <>
                <dt className="text-muted">Offers</dt>
                <dd>{countsText(liveBuild.counts)}</dd>
              </>
            )}
          </dl>
        )}
      </div>
      <div className="px-4 pb-4 empty:hidden">
        <BuildWarnings
          warnings={warnings}
          actionOf={(warning) => <AuthModeButton project={project} warning={warning} />}
        />
      </div>
      <div className="px-4 pb-4 empty:hidden">
        <RolledBack project={project} branch={branch.name} live={liveBuild} />
      </div>
      <SkippedPush project={project} branch={branch} />
      {newer && <NewerBuild project={project} build={newer} hasLive={liveBuild !== null} />}
      <footer className="flex flex-wrap gap-2 border-t px-4 py-2.5 empty:hidden">
        {liveBuild && <LiveLinks project={project} buildId={liveBuild.id} />}
        {latestBuild && !isRunning(latestBuild.status) && (
          <RedeployButton project={project} buildId={(liveBuild ?? latestBuild).id} />
        )}
      </footer>
    </Card>
  );
}

function toneOf({ deployment, liveBuild }: BranchItem): Tone {
  if (!deployment) return "neutral";
  if (liveBuild && liveBuild.warnings.length > 0) return "warn";
  return liveBuild?.isRolledBack ? "info" : "ok";
}

function productionText({ deployment, liveBuild }: BranchItem): string {
  if (!deployment) return "Production is not live yet";
  const warnings = withWarnings(liveBuild?.warnings.length ?? 0);
  if (liveBuild?.isRolledBack) return `${rolledBackText(liveBuild)}${warnings}`;
  return `Production is live${warnings}`;
}

function LiveLinks({ project, buildId }: { project: ProjectKey; buildId: string }) {
  return (
    <>
      <Link to="/$orgSlug/$projectName/inspector" params={project} className={buttonLook({ variant: "primary" })}>
        <SquareTerminal /> Open inspector
      </Link>
      <Link to="/$orgSlug/$projectName/server-logs/$buildId" params={{ ...project, buildId }} className={buttonLook()}>
        <ScrollText /> Server log
      </Link>
    </>
  );
}

type NewerBuildProps = {
  project: ProjectKey;
  build: NonNullable<BranchItem["latestBuild"]>;
  hasLive: boolean;
};

/** The newest build if it isn't live: running, or ended without going live. */
function NewerBuild({ project, build, hasLive }: NewerBuildProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t bg-sunken px-4 py-2.5 text-sm">
      {build.status === "succeeded" ? (
        <span className="text-muted">The newest build isn't live:</span>
      ) : (
        <BuildStatusLabel build={build} />
      )}
      <Link
        to="/$orgSlug/$projectName/build-logs/$buildId"
        params={{ ...project, buildId: build.id }}
        className="min-w-0 truncate underline decoration-line-strong underline-offset-3 hover:decoration-current"
      >
        {build.commitMessage?.split("\n", 1)[0] || versionText(build)}
      </Link>
      <span className="text-xs text-muted">
        <RelativeTime time={build.createdAt} />
        {build.status === "failed" && hasLive && ". Your live version is unaffected."}
      </span>
    </div>
  );
}

function waitingText(status: string | undefined, branchName: string): string {
  if (status === "queued" || status === "building") return "The first build is running. It goes live when it succeeds.";
  if (status === "failed") return "The build failed. Open it to see why and what to do.";
  return `Push a commit to ${branchName} to build and deploy it.`;
}

type Counts = { tools: number; resources: number; templates: number; prompts: number };

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** Such as "4 tools, 1 resource", without zero counts. */
export function countsText(counts: Counts): string {
  const parts = [
    [counts.tools, "tool"],
    [counts.resources, "resource"],
    [counts.templates, "template"],
    [counts.prompts, "prompt"],
  ] as const;
  const present = parts.filter(([count]) => count > 0).map(([count, word]) => plural(count, word));
  return present.length > 0 ? present.join(", ") : "no tools, resources or prompts";
}
