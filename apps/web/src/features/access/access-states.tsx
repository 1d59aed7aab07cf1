import { useRouter } from "@tanstack/react-router";
import { CloudOff } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { classifyError } from "~/ui/error-screen.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

export const accessHeader = (
  <PageHeader title="Access" description="Who may call this server, and which of its tools." />
);

/** Skeleton of the access screen. */
export function AccessPending() {
  return (
    <>
      {accessHeader}
      <div className="flex max-w-4xl flex-col gap-5">
        <Card>
          <SkeletonRows rows={4} label="Loading access" />
        </Card>
        <Card>
          <SkeletonRows rows={4} label="Loading tools" />
        </Card>
      </div>
    </>
  );
}

/** The screen's own error view, which keeps the navigation. */
export function AccessError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = async () => {
    reset();
    await router.invalidate();
  };
  return (
    <EmptyState
      icon={<CloudOff aria-hidden />}
      title="Access could not be loaded"
      actions={<Button onClick={again}>Try again</Button>}
    >
      {classifyError(error).message} Nothing was changed.
    </EmptyState>
  );
}
