import { SkeletonRows } from "./loading.tsx";

/** A list while it loads. Apart from `PagePending`, which every page loads. */
export const ListPending = (rows: { readonly rows: number; readonly label: string }) => (
  <div className="rounded-lg border bg-surface">
    <SkeletonRows {...rows} />
  </div>
);
