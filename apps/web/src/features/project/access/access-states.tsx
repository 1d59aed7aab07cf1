import { Card } from "~/ui/card.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

export const accessHeader = (
  <PageHeader title="Access" description="Who can call this server, and which of its tools." />
);

/** Skeleton of the access screen. */
export function AccessPending() {
  return (
    <>
      {accessHeader}
      <div className="flex max-w-4xl flex-col gap-5">
        <Card>
          <SkeletonRows rows={4} label="Loading access" />
        </Card>
        <Card>
          <SkeletonRows rows={4} label="Loading tools" />
        </Card>
      </div>
    </>
  );
}
