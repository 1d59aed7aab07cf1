import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { failureText } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";

/** State of a switch that saves at once: `change` saves and reloads the project; `failure` says why it wasn't saved. */
export function useProjectSwitch(projectKey: ProjectKey, save: (isOn: boolean) => Promise<unknown>) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const change = async (isOn: boolean) => {
    setBusy(true);
    setFailure(null);
    try {
      await save(isOn);
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, change };
}
