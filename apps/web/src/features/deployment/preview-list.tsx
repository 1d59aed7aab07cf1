import { Link } from "@tanstack/react-router";
import { SquareTerminal } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { BuildStatusLabel } from "../build/build-status-label.tsx";
import { CommitSummary } from "../build/commit-line.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { ServerUrl } from "../project-screen/server-url.tsx";
import type { BranchItem } from "./deployment.queries.ts";

/** Every other branch with a deployment or build, each under its own URL. */
export function PreviewList({ project, branches }: { project: ProjectKey; branches: readonly BranchItem[] }) {
  if (branches.length === 0) return null;
  return (
    <Card>
      <CardHeader title="Previews" description="Each branch has a URL of its own, apart from production." />
      <ul className="divide-y border-t">
        {branches.map((branch) => (
          <li key={branch.id} className="flex flex-wrap items-center gap-x-5 gap-y-2 px-4 py-2.5 text-sm">
            <div className="flex min-w-0 flex-1 basis-64 flex-col gap-0.5">
              {branch.latestBuild ? (
                <CommitSummary
                  commit={{
                    ...branch.latestBuild,
                    branch: branch.name,
                    prNumber: branch.prNumber,
                    prUrl: branch.prUrl,
                  }}
                />
              ) : (
                branch.name
              )}
            </div>
            {branch.latestBuild && (
              <Link
                to="/$orgSlug/$projectName/build-logs/$buildId"
                params={{ ...project, buildId: branch.latestBuild.id }}
                className="flex items-center gap-2 underline-offset-3 hover:underline"
              >
                <BuildStatusLabel status={branch.latestBuild.status} />
                <RelativeTime time={branch.latestBuild.createdAt} className="text-xs text-muted" />
              </Link>
            )}
            {branch.deployment && (
              <div className="flex max-w-full min-w-0 items-center gap-2">
                <ServerUrl url={branch.deployment.url} />
                <Link
                  to="/$orgSlug/$projectName/inspector"
                  params={project}
                  search={{ branchId: branch.id }}
                  className={buttonLook({ size: "sm" })}
                >
                  <SquareTerminal aria-hidden /> Inspect
                </Link>
              </div>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
