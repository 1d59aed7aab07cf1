import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Failure } from "~/ui/callout.tsx";
import { Select } from "~/ui/select.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const choices = [5, 10, 20, 50, 100, 250, 500, 1000];

/** How many callers with values of their own are served at a time (CAP-1). */
export function CallerInstances({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { value: most, failure, change } = useProjectSwitch(projectKey, "callerInstances");
  // Over REST it may be any number.
  const offered = [...new Set([...choices, most])].sort((a, b) => a - b);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p id="caller-instances" className="min-w-0 flex-1 basis-60 text-sm">
          Callers with values of their own, served at a time
          <span className="block text-xs text-muted">
            Each by an instance of their own. Beyond that, idle instances end, and callers wait their turn.
          </span>
        </p>
        <Select
          aria-labelledby="caller-instances"
          className="w-28"
          value={String(most)}
          onChange={(value) => change(() => Number(value))}
          options={offered.map((each) => ({ value: String(each), label: String(each) }))}
        />
      </div>
      <Failure title="The setting was not saved">{failure}</Failure>
    </div>
  );
}
