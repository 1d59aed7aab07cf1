import { ListPending } from "~/ui/list-pending.tsx";

/** Skeleton of a page of the user's own account. */
export const AccountPending = () => (
  <div className="max-w-4xl">
    <ListPending rows={4} label="Loading your account" />
  </div>
);
