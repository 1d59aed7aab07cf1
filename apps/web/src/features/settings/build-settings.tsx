import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { signInWarning } from "@towpath/core/build/contract";
import type { AuthMode } from "@towpath/core/project/schema";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { failureText } from "~/ui/toast.ts";
import { UnsavedChanges } from "~/ui/unsaved-changes.tsx";
import { AuthModeChoice, BuildFields, type BuildValues, useBuildFields } from "../onboarding/build-fields.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { updateProject } from "./settings.functions.ts";

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
        description="Entrypoint and requirements take effect with the next build; access changes apply at once."
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
          <UnsavedChanges when={form.isChanged && !form.busy} what="build settings" />
          {form.failure ? (
            <Callout tone="bad" title="The settings were not saved">
              {form.failure}
            </Callout>
          ) : null}
          <BuildFields fields={form.fields} />
          <AuthModeChoice
            value={form.fields.values.authMode}
            onChange={(authMode) => form.fields.change({ authMode })}
          />
          <SignInNote ownSignIn={project.ownSignIn} authMode={form.fields.values.authMode} />
          <Button type="submit" variant="primary" busy={form.busy} className="self-start">
            Save
          </Button>
          <SavedNote projectKey={projectKey} saved={saved} of={["build", "access"]} />
        </form>
      </CardBody>
    </Card>
  );
}

/** What the chosen mode would mean for the live server, before it is saved. */
function SignInNote({ ownSignIn, authMode }: { ownSignIn: boolean | null; authMode: AuthMode }) {
  const warning = signInWarning(ownSignIn, authMode);
  // Always rendered, so that screen readers announce what appears in it.
  return (
    <div role="status" className="empty:sr-only">
      {warning ? (
        <Callout tone="warn" title={warning.title}>
          {warning.detail}
        </Callout>
      ) : null}
    </div>
  );
}

type Stored = { readonly entrypoint: string; readonly requirements: string | null; readonly authMode: AuthMode };

/** State of the "Build" form: values, errors and submission. */
function useBuildSettings(projectKey: ProjectKey, stored: Stored, onSaved: (saved: Saved) => void) {
  const queryClient = useQueryClient();
  const fields = useBuildFields({
    entrypoint: stored.entrypoint,
    requirements: stored.requirements ?? "",
    authMode: stored.authMode,
  });
  const [opened, setOpened] = useState(stored);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async () => {
    if (!fields.check()) return;
    const { values } = fields;
    setBusy(true);
    setFailure(null);
    onSaved(null);
    try {
      const requirements = values.requirements || null;
      // Send only what changed here: the rest may have changed elsewhere since this page was opened.
      const changed = {
        ...(values.entrypoint !== opened.entrypoint && { entrypoint: values.entrypoint }),
        ...(requirements !== opened.requirements && { requirements }),
        ...(values.authMode !== opened.authMode && { authMode: values.authMode }),
      };
      await updateProject({ data: { ...projectKey, ...changed } });
      setOpened({ ...values, requirements });
      const isBuilt = "entrypoint" in changed || "requirements" in changed;
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      onSaved(isBuilt ? "build" : "access");
    } catch (error) {
      const refused = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      fields.setRefused(refused);
      if (!refused.entrypoint && !refused.requirements) setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };

  const change = (changed: Partial<BuildValues>) => {
    fields.change(changed);
    onSaved(null);
  };
  const { values } = fields;
  const isChanged =
    values.entrypoint !== opened.entrypoint ||
    (values.requirements || null) !== opened.requirements ||
    values.authMode !== opened.authMode;
  return { fields: { ...fields, change }, submit, busy, failure, isChanged };
}
