import { useRouter } from "@tanstack/react-router";
import { CloudOff, SearchX } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/callout.tsx";
import { classifyError } from "~/ui/error-screen.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

/** The deployments screen's own error view: the navigation around it stays (PRJ-2). */
export function DeploymentsError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = async () => {
    reset();
    await router.invalidate();
  };
  return (
    <>
      <PageHeader title="Deployments" />
      <EmptyState
        icon={<CloudOff aria-hidden />}
        title="The deployments could not be loaded"
        actions={<Button onClick={again}>Try again</Button>}
      >
        {classifyError(error).message} What is live keeps serving: this page only reads.
      </EmptyState>
    </>
  );
}

/** The deployments screen's own not-found view (PRJ-2). */
export function DeploymentsNotFound() {
  return (
    <>
      <PageHeader title="Deployments" />
      <EmptyState icon={<SearchX aria-hidden />} title="No deployments found">
        This project does not exist any more. It may have been deleted while this page was open.
      </EmptyState>
    </>
  );
}
