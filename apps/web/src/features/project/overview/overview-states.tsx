import { Link, useParams } from "@tanstack/react-router";
import { PageNotFound } from "~/features/shared/error-screens/page-error.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

/** Skeleton of the overview. */
export function OverviewPending() {
  const { projectName } = useParams({ from: "/$orgSlug/$projectName" });
  return (
    <>
      <PageHeader title={projectName} description={<Skeleton className="mt-1 h-4 w-80 max-w-full" />} />
      <div className="flex flex-col gap-5" role="status" aria-label="Loading the overview">
        <Card className="p-4">
          <Skeleton className="h-16" />
        </Card>
        <Skeleton className="h-28" />
        <Skeleton className="h-56" />
      </div>
    </>
  );
}

/** For a branch that the project doesn't have, or no longer. */
export function UnknownBranch() {
  const params = useParams({ from: "/$orgSlug/$projectName" });
  return (
    <PageNotFound
      reason="Branch not found: this server has no such branch. A preview ends when its branch is deleted."
      actions={
        <Link to="/$orgSlug/$projectName" params={params} className={buttonLook()}>
          Go to production
        </Link>
      }
    />
  );
}
