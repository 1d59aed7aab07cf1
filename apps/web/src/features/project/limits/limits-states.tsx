import { Card } from "~/ui/card.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

export const limitsHeader = (
  <PageHeader title="Limits" description="How many calls this server accepts, and from whom." />
);

/** Skeleton of the limits screen. */
export function LimitsPending() {
  return (
    <>
      {limitsHeader}
      <div className="flex max-w-4xl flex-col gap-5">
        <Card>
          <SkeletonRows rows={2} label="Loading limits" />
        </Card>
        <Card>
          <SkeletonRows rows={2} label="Loading limits of all callers" />
        </Card>
      </div>
    </>
  );
}
