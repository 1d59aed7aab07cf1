import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { failureText } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";

/**
 * State of a switch or choice that saves at once: `change` saves and reloads the project; `failure` says why it wasn't
 * saved.
 */
export function useProjectSwitch<Value = boolean>(projectKey: ProjectKey, save: (value: Value) => Promise<unknown>) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const change = async (value: Value) => {
    setBusy(true);
    setFailure(null);
    try {
      await save(value);
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, change };
}
