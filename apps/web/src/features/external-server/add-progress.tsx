import { Check, Circle, CircleAlert } from "lucide-react";
import { Spinner } from "~/ui/loading.tsx";
import { type AddStep, addSteps } from "./use-add-server.ts";

const texts: Readonly<Record<AddStep, string>> = {
  reach: "Reach the server",
  inspect: "Ask it what it offers",
  save: "Open its address here",
};

/** Where adding a server is: each step with its outcome. */
export function AddProgress({ step, hasFailed }: { readonly step: AddStep; readonly hasFailed: boolean }) {
  const current = addSteps.indexOf(step);
  return (
    <ol aria-label="Progress" className="flex flex-col gap-1.5 rounded-lg border bg-surface px-4 py-3 text-sm">
      {addSteps.map((each, index) => {
        const state = index < current ? "done" : index > current ? "waiting" : hasFailed ? "failed" : "running";
        return (
          <li
            key={each}
            aria-current={state === "running" ? "step" : undefined}
            className="flex items-center gap-2 [&_svg]:size-4 [&_svg]:shrink-0"
          >
            {marks[state]}
            <span className={state === "waiting" ? "text-faint" : undefined}>{texts[each]}</span>
            <span className="sr-only">: {state}</span>
          </li>
        );
      })}
    </ol>
  );
}

const marks = {
  done: <Check className="text-ok" aria-hidden />,
  running: <Spinner className="text-accent-text" />,
  failed: <CircleAlert className="text-bad" aria-hidden />,
  waiting: <Circle className="text-faint" aria-hidden />,
};
