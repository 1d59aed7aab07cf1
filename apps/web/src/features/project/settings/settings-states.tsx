import { Card } from "~/ui/card.tsx";
import { Skeleton, SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

export const settingsHeader = (
  <PageHeader
    title="Settings"
    description="What is built, what its log keeps, and the server's environment variables."
  />
);

/** Skeleton of the settings screen. */
export function SettingsPending() {
  return (
    <>
      {settingsHeader}
      <div className="flex max-w-4xl flex-col gap-5">
        <Card className="flex flex-col gap-4 p-4">
          <Skeleton className="h-5 w-24" />
          <Skeleton className="h-10 w-full" />
          <Skeleton className="h-10 w-full" />
          <Skeleton className="h-20 w-full" />
        </Card>
        <Card>
          <SkeletonRows rows={3} label="Loading variables" />
        </Card>
      </div>
    </>
  );
}
