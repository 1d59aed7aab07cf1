import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { signInWarning } from "@towpath/core/delivery/build/contract";
import type { AuthMode } from "@towpath/core/projects/project/schema";
import { useState } from "react";
import { addedModes } from "~/features/onboarding/server-form/add-page.tsx";
import { AuthModeChoice } from "~/features/onboarding/server-form/build-fields.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Announced } from "~/ui/callout.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";

/** Auth mode of a server (PRJ-12). Saved by a button, because the keyboard passes over choices. */
export function CallersForm({ projectKey }: { readonly projectKey: ProjectKey }) {
  const queryClient = useQueryClient();
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const [chosen, setChosen] = useState<AuthMode | null>(null);
  const [isSaved, setSaved] = useState(false);
  const form = useSubmit();
  const authMode = chosen ?? project.authMode;
  const submit = () =>
    void form.run(async () => {
      await updateProject({ data: { ...projectKey, authMode } });
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      setChosen(null);
      setSaved(true);
    });
  const warning = signInWarning(project.ownSignIn, authMode);
  return (
    <SettingsForm
      id="callers"
      title="Callers"
      description="Towpath checks callers before they reach the server."
      form={form}
      isChanged={authMode !== project.authMode}
      onSubmit={submit}
      after={<Announced when={isSaved} tone="ok" title="Saved. It applies within seconds." />}
    >
      <AuthModeChoice
        value={authMode}
        onChange={(mode) => {
          setChosen(mode);
          setSaved(false);
        }}
        {...(project.kind !== "hosted" && { modes: addedModes })}
      />
      {/* Consequences of the mode for the live server, before it is saved. */}
      <Announced when={warning !== null} tone="warn" title={warning?.title}>
        {warning?.detail}
      </Announced>
    </SettingsForm>
  );
}
