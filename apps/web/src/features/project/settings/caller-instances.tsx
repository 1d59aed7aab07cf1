import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Failure } from "~/ui/callout.tsx";
import { NumberChoice } from "./number-choice.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const choices = [5, 10, 20, 50, 100, 250, 500, 1000];

/** How many callers with values of their own are served at a time (CAP-1). */
export function CallerInstances({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { value, failure, change } = useProjectSwitch(projectKey, "callerInstances");
  return (
    <div className="flex flex-col gap-2">
      <NumberChoice
        id="caller-instances"
        label="Callers with values of their own, served at a time"
        value={value}
        choices={choices}
        nameOf={String}
        onChange={(most) => change(() => most)}
      >
        Each by an instance of their own. Beyond that, idle instances end, and callers wait their turn.
      </NumberChoice>
      <Failure title="The setting was not saved">{failure}</Failure>
    </div>
  );
}
