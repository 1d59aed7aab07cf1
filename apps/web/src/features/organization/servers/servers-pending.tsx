import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

export function ServersPending() {
  return (
    <>
      <PageHeader title="Servers" />
      <div className="rounded-lg border bg-surface">
        <SkeletonRows rows={4} label="Loading servers" />
      </div>
    </>
  );
}
