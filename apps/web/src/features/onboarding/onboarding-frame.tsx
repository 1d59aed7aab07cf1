import type { ReactNode } from "react";
import { classNames } from "~/ui/class-names.ts";
import { Main } from "~/ui/main.tsx";

const steps = ["Organization", "GitHub", "Server", "Teammates"] as const;
type OnboardingStep = (typeof steps)[number];

/** Layout of the welcome screens: progress, one question, its form. */
export function OnboardingFrame({
  step,
  title,
  description,
  wide = false,
  children,
}: {
  readonly step: OnboardingStep;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}) {
  const current = steps.indexOf(step);
  return (
    <Main className={classNames("mx-auto w-full px-4 py-10 sm:px-6 sm:py-14", wide ? "max-w-3xl" : "max-w-xl")}>
      <ol aria-label="Steps" className="mb-8 flex gap-2">
        {steps.map((name, index) => (
          <li key={name} aria-current={index === current ? "step" : undefined} className="min-w-0 flex-1">
            <span
              aria-hidden
              className={classNames("mb-1.5 block h-1 rounded-full", index <= current ? "bg-accent" : "bg-line")}
            />
            <span className={classNames("text-xs", index === current ? "font-medium text-ink" : "text-muted")}>
              {name}
            </span>
          </li>
        ))}
      </ol>
      <h1 className="text-2xl font-semibold tracking-tight text-balance">{title}</h1>
      {description ? <p className="mt-1.5 max-w-prose text-base text-pretty text-muted">{description}</p> : null}
      <div className="mt-7">{children}</div>
    </Main>
  );
}
