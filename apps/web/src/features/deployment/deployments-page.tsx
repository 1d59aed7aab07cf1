import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitCommitHorizontal, SquareTerminal } from "lucide-react";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { buildsQuery } from "../build/build.functions.ts";
import { BuildStatusLabel } from "../build/build-status.tsx";
import { BuildTable } from "../build/build-table.tsx";
import { CommitSummary } from "../build/commit-line.tsx";
import { BuildNewestButton } from "../build/redeploy-button.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { ServerUrl } from "../project-screen/project-labels.tsx";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { type BranchItem, branchesQuery } from "./deployment.functions.ts";
import { ProductionCard } from "./production-card.tsx";

/** Production, previews by branch, and every build (PRJ-2). */
export function DeploymentsPage({ projectKey }: { projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const builds = useSuspenseInfiniteQuery(buildsQuery(projectKey));
  const rows = builds.data.pages.flatMap((page) => page.data);
  const production = branches.find((branch) => branch.isDefault);
  const previews = branches.filter((branch) => !branch.isDefault);
  return (
    <>
      <PageHeader
        title="Deployments"
        description="Production, previews, and the builds behind them."
        actions={project.githubRepository ? <BuildNewestButton project={projectKey} /> : null}
      />
      <div className="flex flex-col gap-5">
        {production && <ProductionCard project={projectKey} branch={production} />}
        <PreviewList project={projectKey} branches={previews} />
        <Card>
          <CardHeader
            title="Builds"
            description="Each build is of one commit. A failed build never changes what is live."
          />
          {rows.length === 0 ? (
            <EmptyState icon={<GitCommitHorizontal aria-hidden />} title="No builds yet">
              Push a commit to <code>{project.defaultBranch}</code>
              {project.githubRepository && (
                <>
                  {" "}
                  of <code>{project.githubRepository.fullName}</code>
                </>
              )}{" "}
              to build and deploy it.
            </EmptyState>
          ) : (
            <div className="border-t">
              <BuildTable project={projectKey} builds={rows} />
            </div>
          )}
          {builds.hasNextPage && (
            <div className="flex justify-center border-t p-3">
              <Button busy={builds.isFetchingNextPage} onClick={() => builds.fetchNextPage()}>
                Show older builds
              </Button>
            </div>
          )}
        </Card>
      </div>
    </>
  );
}

/** Every other branch with a deployment or build, each under its own URL. */
function PreviewList({ project, branches }: { project: ProjectKey; branches: readonly BranchItem[] }) {
  if (branches.length === 0) return null;
  return (
    <Card>
      <CardHeader title="Previews" description="Each branch has its own URL, separate from production." />
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
