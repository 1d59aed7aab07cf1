import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { type AuthMode, entrypointProblem, requirementsProblem } from "@towpath/core/project/schema";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { failureText } from "~/ui/toast.ts";
import { AuthModeChoice } from "../onboarding/auth-mode-choice.tsx";
import { PathField } from "../onboarding/path-field.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { saveBuildSettings } from "./settings.functions.ts";

/** Entrypoint, requirements file and auth mode (PRJ-11, VAL-2, VAL-3). */
export function BuildSettings({
  projectKey,
  saved,
  onSaved,
}: {
  projectKey: ProjectKey;
  saved: Saved;
  onSaved: (saved: Saved) => void;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const form = useBuildSettings(projectKey, project, onSaved);
  return (
    <Card id="build" className="scroll-mt-24">
      <CardHeader
        title="Build"
        description="Entrypoint and requirements take effect with the next build; who may call it, at once."
      />
      <CardBody>
        <form
          noValidate
          aria-label="Build"
          className="flex flex-col gap-5"
          onSubmit={(event) => {
            event.preventDefault();
            void form.submit();
          }}
        >
          {form.failure ? (
            <Callout tone="bad" title="The settings were not saved">
              {form.failure}
            </Callout>
          ) : null}
          <PathField
            label="Entrypoint"
            hint={
              <>
                The file of the server, with its object when that is not <code>mcp</code>, <code>server</code> or{" "}
                <code>app</code>: <code>server.py:object</code>
              </>
            }
            error={form.problem("entrypoint")}
            value={form.values.entrypoint}
            onChange={(entrypoint) => form.change({ entrypoint })}
            candidates={[]}
          />
          <PathField
            label="Requirements file"
            optional
            hint="Only when dependencies are neither in uv.lock nor in pyproject.toml."
            error={form.problem("requirements")}
            value={form.values.requirements}
            onChange={(requirements) => form.change({ requirements })}
            candidates={[]}
          />
          <AuthModeChoice value={form.values.authMode} onChange={(authMode) => form.change({ authMode })} />
          <Button type="submit" variant="primary" busy={form.busy} className="self-start">
            Save
          </Button>
          <SavedNote projectKey={projectKey} saved={saved} of={["build", "access"]} />
        </form>
      </CardBody>
    </Card>
  );
}

type Values = { readonly entrypoint: string; readonly requirements: string; readonly authMode: AuthMode };
type Stored = { readonly entrypoint: string; readonly requirements: string | null; readonly authMode: AuthMode };

/** The form of the section "Build": values, what is wrong with each while one types, and sending it. */
function useBuildSettings(projectKey: ProjectKey, stored: Stored, onSaved: (saved: Saved) => void) {
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
