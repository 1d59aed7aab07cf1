import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

export function ServersPending() {
  return (
    <main className="mx-auto w-full max-w-6xl px-4 py-6 sm:px-6">
      <PageHeader title="Servers" />
      <div className="rounded-lg border bg-surface">
        <SkeletonRows rows={4} label="Loading servers" />
      </div>
    </main>
  );
}
