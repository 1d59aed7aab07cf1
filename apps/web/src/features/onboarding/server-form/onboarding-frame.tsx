import type { ReactNode } from "react";
import { classNames } from "~/ui/class-names.ts";
import { Main } from "~/ui/main.tsx";
import { type FirstServerStep, FirstServerSteps, useHasNoServer } from "./first-server-steps.tsx";

type OnboardingFrameProps = {
  /** Absent for screens that are no step. */
  readonly step?: FirstServerStep;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
};

/** Layout of the welcome screens: progress to the first server, one question, and its form. */
export function OnboardingFrame({ step, title, description, wide = false, children }: OnboardingFrameProps) {
  const hasNoServer = useHasNoServer();
  return (
    <Main className={classNames("mx-auto w-full px-4 py-10 sm:px-6 sm:py-14", wide ? "max-w-3xl" : "max-w-xl")}>
      {step === "Organization" || (step && hasNoServer) ? (
        <div className="mb-8">
          <FirstServerSteps step={step} />
        </div>
      ) : null}
      <h1 className="text-2xl font-semibold tracking-tight text-balance">{title}</h1>
      {description ? <p className="mt-1.5 max-w-prose text-base text-pretty text-muted">{description}</p> : null}
      <div className="mt-7">{children}</div>
    </Main>
  );
}
