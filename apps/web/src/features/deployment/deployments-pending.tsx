import { Card } from "~/ui/card.tsx";
import { Skeleton, SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

/** The deployments screen while it loads: the shape of what comes. */
export function DeploymentsPending() {
  return (
    <>
      <PageHeader title="Deployments" description="What is live, on which commit, and every build that led there." />
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
