import { Card } from "~/ui/card.tsx";
import { Skeleton, SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

/** Skeleton of a page with figures and a list. */
export function ActivityPending({ title }: { title: string }) {
  return (
    <>
      <PageHeader title={title} />
      <Card className="mb-3 p-4">
        <Skeleton className="h-24" />
      </Card>
      <Card>
        <SkeletonRows rows={8} label={`Loading ${title.toLowerCase()}`} />
      </Card>
    </>
  );
}
