import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FileCode } from "lucide-react";
import { lazy, Suspense } from "react";
import { BuildTable } from "~/features/project/build/build-table.tsx";
import { BuildNewestButton } from "~/features/project/build/redeploy-button.tsx";
import { buildsQuery } from "~/features/project/delivery/build.functions.ts";
import { type BranchItem, branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { CurrentRelease } from "~/features/project/release/current-release.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { isRepository } from "~/features/shared/project-screen/source-names.ts";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { ForkPullRequests } from "./fork-pull-requests.tsx";
import { PreviewList } from "./preview-list.tsx";
import { ProductionCard } from "./production-card.tsx";

// Before the first build only.
const NoBuilds = lazy(() => import("./no-builds.tsx"));

/** Production, previews by branch, and every build (PRJ-2). */
export function DeploymentsPage({ projectKey, branch }: { projectKey: ProjectKey; branch: string | undefined }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const builds = useSuspenseInfiniteQuery(buildsQuery(projectKey, branch));
  const rows = builds.data.pages.flatMap((page) => page.data);
  const production = branches.find(({ isDefault }) => isDefault);
  // Forks that wait for approval have their own list.
  const previews = branches.filter(({ isDefault, isUnbuiltFork }) => !isDefault && !isUnbuiltFork);
  const isPackage = project.package !== null;
  const mayBuild = useMay("build.start");
  return (
    <>
      <PageHeader
        title="Deployments"
        description={
          isPackage ? "Production, and the builds behind it." : "Production, previews, and the builds behind them."
        }
        actions={
          isRepository(project.source) ? (
            <>
              {mayBuild && (
                <Link to="/$orgSlug/$projectName/code" params={projectKey} className={buttonLook()}>
                  <FileCode /> Edit code
                </Link>
              )}
              <BuildNewestButton project={projectKey} />
            </>
          ) : project.package ? (
            <BuildNewestButton project={projectKey} label="Deploy newest version" />
          ) : null
        }
      />
      <div className="flex flex-col gap-5">
        {production && <ProductionCard project={projectKey} branch={production} isPackage={isPackage} />}
        <CurrentRelease projectKey={projectKey} />
        <ForkPullRequests project={projectKey} />
        <PreviewList project={projectKey} branches={previews} />
        <Card>
          <CardHeader
            title="Builds"
            description={`Each build deploys one ${isPackage ? "version" : "commit"}. A failed build never changes what's live.`}
            actions={
              <>
                <BranchFilter projectKey={projectKey} branches={branches} chosen={branch} />
                <ViewsButton list="deployments" />
              </>
            }
          />
          {rows.length === 0 ? (
            <Suspense fallback={<SkeletonRows rows={2} label="Loading builds" />}>
              <NoBuilds project={project} branch={branch} />
            </Suspense>
          ) : (
            <div className="border-t">
              <BuildTable project={projectKey} builds={rows} isPackage={isPackage} isWhole={!builds.hasNextPage} />
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

type BranchFilterProps = {
  projectKey: ProjectKey;
  branches: readonly BranchItem[];
  chosen: string | undefined;
};

/** Which branch's builds are listed; the address keeps it. */
function BranchFilter({ projectKey, branches, chosen }: BranchFilterProps) {
  const navigate = useNavigate();
  // An ended branch has builds, but is no longer among the branches.
  const names = [...new Set([...branches.map(({ name }) => name), ...(chosen === undefined ? [] : [chosen])])];
  if (names.length < 2) return null;
  return (
    <Select
      aria-label="Branch"
      className="w-52"
      value={chosen ?? allBranches}
      onChange={(name) =>
        navigate({
          to: "/$orgSlug/$projectName/deployments",
          params: projectKey,
          search: (before) => ({ ...before, branch: name === allBranches ? undefined : name }),
          resetScroll: false,
        })
      }
      options={[{ value: allBranches, label: "All branches" }, ...names.map((name) => ({ value: name, label: name }))]}
    />
  );
}

/** No branch of Git has this name (git-check-ref-format(1)). */
const allBranches = "*";
