import { SkeletonRows } from "~/ui/loading.tsx";

/** Skeleton of a page of the user's own account. */
export function AccountPending() {
  return (
    <div className="max-w-4xl">
      <div className="rounded-lg border bg-surface">
        <SkeletonRows rows={4} label="Loading your account" />
      </div>
    </div>
  );
}
