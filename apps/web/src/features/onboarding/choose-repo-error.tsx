import type { ErrorComponentProps } from "@tanstack/react-router";
import { Callout } from "~/ui/callout.tsx";
import { classifyError, ErrorScreen } from "~/ui/error-screen.tsx";
import { failureText } from "~/ui/toast.ts";
import { OnboardingFrame } from "./onboarding-frame.tsx";

/** ONB-10: what went wrong is most often at GitHub, and then trying again helps. */
export function ChooseRepoError({ error, reset }: ErrorComponentProps) {
  if (classifyError(error).kind !== "other") return <ErrorScreen error={error} />;
  return (
    <OnboardingFrame step="Server" title="The repositories could not be loaded">
      <Callout
        tone="bad"
        actions={
          <button type="button" className="text-sm font-medium underline" onClick={reset}>
            Try again
          </button>
        }
      >
        {failureText(error)}
      </Callout>
    </OnboardingFrame>
  );
}
