import { useQueryClient } from "@tanstack/react-query";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";

/**
 * State of a switch or choice that saves at once: `change` saves and reloads the project; `failure`: why it wasn't
 * saved. While `busy`, make the control read-only rather than disabled, which would lose the keyboard's focus.
 */
export function useProjectSwitch<Value = boolean>(projectKey: ProjectKey, save: (value: Value) => Promise<unknown>) {
  const queryClient = useQueryClient();
  const { busy, failure, run } = useSubmit();
  const change = (value: Value) =>
    run(async () => {
      await save(value);
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
    });
  return { busy, failure, change };
}
