import { useRouter } from "@tanstack/react-router";
import { CloudOff } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { classifyError } from "./classify-error.ts";
import { EmptyState } from "./empty-state.tsx";

type LoadFailureProps = {
  title: string;
  error: unknown;
  reset: () => void;
  /** Text of what is not affected. */
  children: ReactNode;
};

/** Replaces only a screen's content when its data can't be read, so that the navigation stays. */
export function LoadFailure({ title, error, reset, children }: LoadFailureProps) {
  const router = useRouter();
  const again = async () => {
    reset();
    await router.invalidate();
  };
  return (
    <EmptyState icon={<CloudOff />} title={title} actions={<Button onClick={again}>Try again</Button>}>
      {classifyError(error).message} {children}
    </EmptyState>
  );
}
