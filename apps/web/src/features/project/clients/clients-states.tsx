import { SearchX } from "lucide-react";
import { EmptyState } from "~/ui/empty-state.tsx";
import { LoadFailure } from "~/ui/load-failure.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

/** The clients screen's own error view, which keeps the navigation (PRJ-8). */
export function ClientsError({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <>
      <PageHeader title="Clients" />
      <LoadFailure title="Couldn't load the clients" error={error} reset={reset}>
        Connected clients aren't affected.
      </LoadFailure>
    </>
  );
}

/** The clients screen's own not-found view (PRJ-8). */
export function ClientsNotFound() {
  return (
    <>
      <PageHeader title="Clients" />
      <EmptyState icon={<SearchX />} title="This server is gone">
        It was deleted or renamed while this page was open. Its clients can no longer reach it.
      </EmptyState>
    </>
  );
}
