import { useQueryClient } from "@tanstack/react-query";
import { type AuthMode, entrypointProblem, requirementsProblem } from "@towpath/core/project/schema";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/error-code.ts";
import { failureText } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.queries.ts";
import { saveBuildSettings } from "./settings.functions.ts";
import type { Saved } from "./settings-page.tsx";

type Values = { readonly entrypoint: string; readonly requirements: string; readonly authMode: AuthMode };
type Stored = { readonly entrypoint: string; readonly requirements: string | null; readonly authMode: AuthMode };

/** The form of the section "Build": values, what is wrong with each while one types, and sending it. */
export function useBuildSettings(projectKey: ProjectKey, stored: Stored, onSaved: (saved: Saved) => void) {
  const queryClient = useQueryClient();
  const [values, setValues] = useState<Values>({
    entrypoint: stored.entrypoint,
    requirements: stored.requirements ?? "",
    authMode: stored.authMode,
  });
  const [opened, setOpened] = useState(stored);
  const [refused, setRefused] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const found = {
    entrypoint: entrypointProblem(values.entrypoint),
    requirements: requirementsProblem(values.requirements),
  };

  const change = (changed: Partial<Values>) => {
    setValues({ ...values, ...changed });
    setRefused({});
    onSaved(null);
  };

  const submit = async () => {
    if (found.entrypoint || found.requirements) return;
    setBusy(true);
    setFailure(null);
    onSaved(null);
    try {
      const requirements = values.requirements || null;
      // Only what was changed here: the rest may have changed elsewhere since this page was opened.
      const changed = {
        ...(values.entrypoint !== opened.entrypoint && { entrypoint: values.entrypoint }),
        ...(requirements !== opened.requirements && { requirements }),
        ...(values.authMode !== opened.authMode && { authMode: values.authMode }),
      };
      await saveBuildSettings({ data: { ...projectKey, ...changed } });
      setOpened({ ...values, requirements });
      const isBuilt = "entrypoint" in changed || "requirements" in changed;
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      onSaved(isBuilt ? "build" : "access");
    } catch (error) {
      const fields = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      setRefused(fields);
      if (!fields.entrypoint && !fields.requirements) setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };

  const problem = (field: "entrypoint" | "requirements") => refused[field] ?? found[field];
  return { values, change, submit, busy, failure, problem };
}
