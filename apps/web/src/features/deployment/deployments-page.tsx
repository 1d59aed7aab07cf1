import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { GitCommitHorizontal } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/callout.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { buildsQuery } from "../build/build.queries.ts";
import { BuildTable } from "../build/build-table.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.queries.ts";
import { branchesQuery } from "./deployment.queries.ts";
import { PreviewList } from "./preview-list.tsx";
import { ProductionCard } from "./production-card.tsx";

/** What is live, previews by branch, and every build (PRJ-2). */
export function DeploymentsPage({ projectKey }: { projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const builds = useSuspenseInfiniteQuery(buildsQuery(projectKey));
  const rows = builds.data.pages.flatMap((page) => page.data);
  const production = branches.find((branch) => branch.isDefault);
  const previews = branches.filter((branch) => !branch.isDefault);
  return (
    <>
      <PageHeader title="Deployments" description="What is live, on which commit, and every build that led there." />
      <div className="flex flex-col gap-5">
        {production && <ProductionCard project={projectKey} branch={production} />}
        <PreviewList project={projectKey} branches={previews} />
        <Card>
          <CardHeader
            title="Builds"
            description="A build belongs to one commit. A failed one never changes what is live."
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
              and it is built and put live by itself.
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
