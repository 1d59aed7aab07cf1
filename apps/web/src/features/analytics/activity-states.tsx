import { SearchX } from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { LoadFailure } from "~/ui/load-failure.tsx";
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

/** What a page shows when its data can't be read; the navigation stays. */
export function ActivityError({ title, error, reset }: { title: string; error: unknown; reset: () => void }) {
  return (
    <>
      <PageHeader title={title} />
      <LoadFailure title={`Couldn't load ${title.toLowerCase()}`} error={error} reset={reset}>
        Calls are still recorded.
      </LoadFailure>
    </>
  );
}

export function ActivityNotFound({ title, children }: { title: string; children: ReactNode }) {
  return (
    <EmptyState icon={<SearchX aria-hidden />} title={title} heading="h1">
      {children}
    </EmptyState>
  );
}
