import { useRouteContext } from "@tanstack/react-router";
import { classNames } from "~/ui/class-names.ts";

const steps = ["Organization", "Server"] as const;
export type FirstServerStep = (typeof steps)[number];

/** Whether the organization of this page has no server yet; false on pages of no organization. */
export const useHasNoServer = (): boolean =>
  useRouteContext({
    strict: false,
    select: ({ profile, organization }) =>
      profile !== undefined &&
      organization !== undefined &&
      profile.projects.every(({ orgSlug }) => orgSlug !== organization.slug),
  });

/**
 * Progress to the first server (SRC-4). Only things that everybody does are steps, unlike connecting GitHub and
 * inviting people.
 */
export function FirstServerSteps({ step }: { readonly step: FirstServerStep }) {
  const current = steps.indexOf(step);
  return (
    <ol aria-label="Steps" className="flex max-w-xl gap-2">
      {steps.map((name, index) => (
        <li key={name} aria-current={index === current ? "step" : undefined} className="min-w-0 flex-1">
          <span
            aria-hidden
            className={classNames("mb-1.5 block h-1 rounded-full", index <= current ? "bg-accent" : "bg-line")}
          />
          <span className={classNames("text-xs", index === current ? "font-medium text-ink" : "text-muted")}>
            {name}
            {index < current ? <span className="sr-only">, done</span> : null}
          </span>
        </li>
      ))}
    </ol>
  );
}
