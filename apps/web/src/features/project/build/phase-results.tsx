import type { BuildPhase } from "@towpath/core/delivery/build/contract";
import { Check, ChevronRight, Circle, Minus, X } from "lucide-react";
import { Card } from "~/ui/card.tsx";
import { classNames } from "~/ui/class-names.ts";
import { Duration, RunningDuration } from "~/ui/duration.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { WaterLevel } from "~/ui/water-level.tsx";
import { type PhaseState, progressOf } from "./build-log.ts";

const names: Record<BuildPhase, { title: string; about: string }> = {
  fetch: { title: "Fetch", about: "Get the commit's files" },
  plan: { title: "Plan", about: "Choose Python, dependencies and entrypoint" },
  install: { title: "Install", about: "Install the dependencies" },
  inspect: { title: "Inspect", about: "Start the server and list what it offers" },
  rollout: { title: "Roll out", about: "Warm up the new version and switch the URL to it" },
};

const stateWords: Record<PhaseState["state"], string> = {
  waiting: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
  skipped: "not reached",
};

type PhaseResultsProps = {
  phases: readonly PhaseState[];
  /** A promotion needs none of the phases that make layers. */
  isPromotion: boolean;
  /** The failure in one line; null unless a phase failed. */
  failure: string | null;
};

/** One line for each phase: outcome and duration. Opens to show the reasons. */
export function PhaseResults({ phases, isPromotion, failure }: PhaseResultsProps) {
  const failed = phases.some(({ state }) => state === "failed");
  const isDone = phases.every(({ state }) => state === "done");
  return (
    <Card className="flex items-stretch">
      <div className="hidden items-center rounded-l-lg border-r bg-sunken px-4 sm:flex">
        <WaterLevel level={progressOf(phases)} tone={failed ? "bad" : isDone ? "ok" : "accent"} className="size-12" />
      </div>
      <ol aria-label="Phases of the build" className="min-w-0 flex-1 divide-y">
        {phases.map((phase) => (
          <li key={phase.phase}>
            <Phase phase={isPromotion ? promotedPhase(phase) : { ...phase, isNeeded: true }} failure={failure} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

type Shown = PhaseState & { readonly isNeeded: boolean };

/** A promotion reuses the preview's phases, which have no lines or time. */
const promotedPhase = (phase: PhaseState): Shown => ({
  ...phase,
  isNeeded: phase.state !== "done" || phase.durationMs !== null || phase.startedAt !== null,
});

function Phase({ phase, failure }: { phase: Shown; failure: string | null }) {
  const { steps, warnings, packages } = phase;
  if (steps.length + warnings.length + packages.length === 0) return <PhaseLine phase={phase} failure={failure} />;
  return (
    <details className="group/phase">
      <summary className="flex cursor-pointer list-none items-center rounded-sm hover:bg-hover/60 [&::-webkit-details-marker]:hidden">
        <PhaseLine phase={phase} failure={failure} />
        <ChevronRight className="mr-3 size-4 shrink-0 text-faint transition-transform group-open/phase:rotate-90" />
      </summary>
      <div className="flex flex-col gap-2 pr-4 pb-3 pl-11 text-xs text-muted">
        <Texts texts={warnings} className="text-warn" />
        <Texts texts={steps} />
        {packages.length > 0 && (
          <ul aria-label="Installed packages" className="flex flex-wrap gap-1.5">
            {packages.map((each) => (
              <li key={each} className="rounded-sm bg-hover px-1.5 py-px font-mono leading-5">
                {each.replace("==", " ")}
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}

function Texts({ texts, className }: { texts: readonly string[]; className?: string }) {
  if (texts.length === 0) return null;
  return (
    <ul className={classNames("flex flex-col gap-1", className)}>
      {texts.map((text, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: texts are only ever appended
        <li key={position} className="break-words whitespace-pre-line">
          {text}
        </li>
      ))}
    </ul>
  );
}

function PhaseLine({ phase, failure }: { phase: Shown; failure: string | null }) {
  const { state, durationMs, startedAt, isNeeded } = phase;
  const doing = state === "running" ? phase.doing : null;
  const result = state === "failed" ? (failure ?? phase.result) : (doing ?? phase.result);
  const isIdle = state === "waiting" || state === "skipped";
  return (
    <div className="flex min-h-10 min-w-0 flex-1 items-center gap-3 px-4 py-2 text-sm">
      <PhaseMark state={isNeeded ? state : "skipped"} />
      <h2 className={classNames("w-16 shrink-0 font-medium", isIdle && "text-muted")}>
        {names[phase.phase].title}
        <span className="sr-only">, {isNeeded ? stateWords[state] : "not needed"}</span>
      </h2>
      <span className={classNames("min-w-0 flex-1 break-words", result === null ? "text-faint" : "text-muted")}>
        {result ?? (isNeeded ? names[phase.phase].about : "Not needed")}
      </span>
      <span className="tabular shrink-0 text-xs text-muted">
        {durationMs !== null && <Duration ms={durationMs} />}
        {durationMs === null && state === "running" && startedAt && <RunningDuration since={startedAt} />}
      </span>
    </div>
  );
}

function PhaseMark({ state }: { state: PhaseState["state"] }) {
  const look = {
    waiting: {
      className: "border border-line-strong/60 text-faint",
      icon: <Circle className="size-1.5 fill-current" />,
    },
    running: { className: "bg-info-soft text-info", icon: <Spinner className="size-3.5" /> },
    done: { className: "bg-ok-soft text-ok", icon: <Check className="size-3" strokeWidth={3} /> },
    failed: { className: "bg-bad-solid text-white", icon: <X className="size-3" strokeWidth={3} /> },
    skipped: { className: "border border-line text-faint", icon: <Minus className="size-3" /> },
  }[state];
  return (
    <span
      aria-hidden
      className={classNames("flex size-5 shrink-0 items-center justify-center rounded-full", look.className)}
    >
      {look.icon}
    </span>
  );
}
