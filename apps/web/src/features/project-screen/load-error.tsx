import { useRouter } from "@tanstack/react-router";
import { CloudOff } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { classifyError } from "~/ui/error-screen.tsx";

/** Error view of a project's screen with a form, which keeps the navigation. */
export function LoadError({ title, error, reset }: { title: string; error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = async () => {
    reset();
    await router.invalidate();
  };
  return (
    <EmptyState icon={<CloudOff aria-hidden />} title={title} actions={<Button onClick={again}>Try again</Button>}>
      {classifyError(error).message} Nothing was changed.
    </EmptyState>
  );
}
