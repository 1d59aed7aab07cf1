import { Link } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { LoadFailure } from "~/ui/load-failure.tsx";
import { Skeleton, SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

/** Skeleton of the deployments screen. */
export function DeploymentsPending() {
  return (
    <>
      <PageHeader title="Deployments" description="Production, previews, and the builds behind them." />
      <div className="flex flex-col gap-5">
        <Card className="flex flex-col gap-3 p-4">
          <Skeleton className="h-5 w-44" />
          <Skeleton className="h-7 w-80 max-w-full" />
          <Skeleton className="h-4 w-60 max-w-full" />
        </Card>
        <Card>
          <SkeletonRows rows={8} label="Loading builds" />
        </Card>
      </div>
    </>
  );
}

/** The deployments screen's own error view, which keeps the navigation (PRJ-2). */
export function DeploymentsError({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <>
      <PageHeader title="Deployments" />
      <LoadFailure title="Couldn't load the deployments" error={error} reset={reset}>
        Live deployments are not affected.
      </LoadFailure>
    </>
  );
}

/** The deployments screen's own not-found view (PRJ-2): for a deleted project, and for an unknown branch. */
export function DeploymentsNotFound({ projectKey, branch }: { projectKey: ProjectKey; branch: string | undefined }) {
  if (branch !== undefined) {
    return (
      <>
        <PageHeader title="Deployments" />
        <EmptyState
          icon={<SearchX />}
          title={`There is no branch ${branch}`}
          actions={
            <Link to="/$orgSlug/$projectName/deployments" params={projectKey} className={buttonLook()}>
              All deployments
            </Link>
          }
        >
          It was never built here, or was deleted along with its builds.
        </EmptyState>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Deployments" />
      <EmptyState icon={<SearchX />} title="No deployments found">
        This server no longer exists. It may have been deleted while this page was open.
      </EmptyState>
    </>
  );
}
