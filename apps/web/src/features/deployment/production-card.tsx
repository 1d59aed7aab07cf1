import { Link } from "@tanstack/react-router";
import { ScrollText, SquareTerminal } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { RelativeTime } from "~/ui/relative-time.tsx";
import { StatusDot } from "~/ui/status-dot.tsx";
import { isRunning } from "../build/build-status.ts";
import { CommitSummary } from "../build/commit-line.tsx";
import { RedeployButton } from "../build/redeploy-button.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { ServerUrl } from "../project-screen/server-url.tsx";
import type { BranchItem } from "./deployment.queries.ts";
import { foundText } from "./found-text.ts";

/** What callers reach under the project's name: the default branch's live deployment. */
export function ProductionCard({ project, branch }: { project: ProjectKey; branch: BranchItem }) {
  const { deployment, latestBuild, found } = branch;
  return (
    <Card aria-label="Production">
      <div className="flex flex-wrap items-start gap-x-6 gap-y-3 p-4">
        <div className="flex min-w-0 flex-1 basis-80 flex-col gap-2.5">
          <h2 className="flex items-center gap-2 text-base font-semibold tracking-tight">
            <StatusDot tone={deployment ? "ok" : "neutral"} />
            {deployment ? "Production is live" : "Production is not live yet"}
          </h2>
          {deployment ? (
            <ServerUrl url={deployment.url} className="self-start" />
          ) : (
            <p className="text-sm text-muted">{waitingText(latestBuild?.status, branch.name)}</p>
          )}
          {latestBuild && (
            <div className="text-sm">
              <CommitSummary commit={{ ...latestBuild, branch: branch.name }} />
            </div>
          )}
        </div>
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
          {found && (
            <>
              <dt className="text-muted">Offers</dt>
              <dd>{foundText(found)}</dd>
            </>
          )}
          {latestBuild && (
            <>
              <dt className="text-muted">Latest build</dt>
              <dd>
                <Link
                  to="/$orgSlug/$projectName/build-logs/$buildId"
                  params={{ ...project, buildId: latestBuild.id }}
                  className="underline decoration-line-strong underline-offset-3 hover:decoration-current"
                >
                  {latestBuild.status}
                </Link>
                , <RelativeTime time={latestBuild.createdAt} />
              </dd>
            </>
          )}
        </dl>
      </div>
      {latestBuild && (
        <footer className="flex flex-wrap gap-2 border-t px-4 py-2.5">
          {deployment && (
            <Link to="/$orgSlug/$projectName/inspector" params={project} className={buttonLook({ variant: "primary" })}>
              <SquareTerminal aria-hidden /> Open inspector
            </Link>
          )}
          {deployment && (
            <Link
              to="/$orgSlug/$projectName/server-logs/$buildId"
              params={{ ...project, buildId: latestBuild.id }}
              className={buttonLook()}
            >
              <ScrollText aria-hidden /> Server log
            </Link>
          )}
          {!isRunning(latestBuild.status) && <RedeployButton project={project} buildId={latestBuild.id} />}
        </footer>
      )}
    </Card>
  );
}

function waitingText(status: string | undefined, branchName: string): string {
  if (status === "queued" || status === "building") return "The first build is on its way. It goes live when it ends.";
  if (status === "failed") return "The build failed. Its page says why, and what to do about it.";
  return `Push a commit to ${branchName}: it is built and goes live by itself.`;
}
