import { useQueryClient } from "@tanstack/react-query";
import type { AccessView } from "@towpath/core/calling/access";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { accessQuery, saveAccess } from "./access.functions.ts";

type Draft = Pick<AccessView, "roles" | "apiKeys" | "tools">;

/** State of the form: choices and the result of saving. */
export function useAccessForm(projectKey: ProjectKey, stored: AccessView) {
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState<Draft>({ roles: stored.roles, apiKeys: stored.apiKeys, tools: stored.tools });
  const [savedDraft, setSavedDraft] = useState(draft);
  const [revision, setRevision] = useState(stored.revision);
  const { problem: failure, busy, run } = useSubmit();
  const [isSaved, setSaved] = useState(false);

  const change = (changed: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...changed }));
    setSaved(false);
  };
  const submit = async () => {
    setSaved(false);
    await run(async () => {
      const { roles, apiKeys, tools } = draft;
      const saved = await saveAccess({
        data: {
          ...projectKey,
          revision,
          roles: [...roles],
          apiKeys: apiKeys === "all" ? "all" : [...apiKeys],
          tools: tools === "all" ? "all" : [...tools],
        },
      });
      queryClient.setQueryData(accessQuery(projectKey).queryKey, saved);
      setRevision(saved.revision);
      setSavedDraft(draft);
      setSaved(true);
    });
  };
  return {
    draft,
    change,
    submit,
    failure,
    busy,
    isSaved,
    isChanged: textOf(draft) !== textOf(savedDraft),
    toggleRole: (role: Draft["roles"][number], on: boolean) => change({ roles: toggled(draft.roles, role, on) }),
    toggleKey: (id: string, on: boolean) => change({ apiKeys: toggled(listOf(draft.apiKeys), id, on) }),
    toggleTool: (name: string, on: boolean) => change({ tools: toggled(listOf(draft.tools), name, on) }),
  };
}

export type AccessForm = ReturnType<typeof useAccessForm>;

/** Equal for equal choices in any order. */
const textOf = ({ roles, apiKeys, tools }: Draft): string =>
  JSON.stringify([roles, apiKeys, tools].map((choice) => (choice === "all" ? choice : choice.toSorted())));

const listOf = (chosen: "all" | readonly string[]): readonly string[] => (chosen === "all" ? [] : chosen);

function toggled<T>(list: readonly T[], item: T, on: boolean): readonly T[] {
  return on ? [...list, item] : list.filter((each) => each !== item);
}
