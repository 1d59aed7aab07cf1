import type { BuildPhase } from "@towpath/core/build/contract";
import { Check, Circle, Minus, X } from "lucide-react";
import { classNames } from "~/ui/class-names.ts";
import { Spinner } from "~/ui/loading.tsx";
import { Duration, RunningDuration } from "~/ui/time.tsx";
import type { PhaseState } from "./build-log.ts";

const names: Record<BuildPhase, { title: string; about: string }> = {
  fetch: { title: "Fetch", about: "Get the commit's files from the repository" },
  plan: { title: "Plan", about: "Choose Python, dependencies and entrypoint" },
  install: { title: "Install", about: "Install the dependencies into their own layer" },
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

/** The five phases with their durations and, under each, the decisions made and why. */
export function PhaseStepper({ phases }: { phases: readonly PhaseState[] }) {
  return (
    <ol aria-label="Phases of the build" className="flex flex-col">
      {phases.map((phase, index) => (
        <li key={phase.phase} className="relative flex gap-3 pb-4 last:pb-0">
          {index < phases.length - 1 && (
            <span
              aria-hidden
              className={classNames(
                "absolute top-6 bottom-0 left-2.5 w-px -translate-x-1/2",
                phase.state === "done" ? "bg-ok/50" : "bg-line",
              )}
            />
          )}
          <PhaseMark state={phase.state} />
          <div className="min-w-0 flex-1">
            <div className="flex min-h-5 items-baseline justify-between gap-3">
              <h2
                className={classNames(
                  "text-sm font-medium",
                  (phase.state === "waiting" || phase.state === "skipped") && "text-muted",
                )}
              >
                {names[phase.phase].title}
                <span className="sr-only">, {stateWords[phase.state]}</span>
              </h2>
              <span className="text-xs text-muted">
                {phase.durationMs !== null && <Duration ms={phase.durationMs} />}
                {phase.durationMs === null && phase.state === "running" && phase.startedAt && (
                  <RunningDuration since={phase.startedAt} />
                )}
              </span>
            </div>
            {phase.steps.length === 0 ? (
              <p className="text-xs text-muted">{names[phase.phase].about}</p>
            ) : (
              <ul className="mt-1 flex flex-col gap-1 text-xs text-muted">
                {phase.steps.map((step, position) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever appended
                  <li key={position} className="break-words">
                    {step}
                  </li>
                ))}
              </ul>
            )}
          </div>
        </li>
      ))}
    </ol>
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
