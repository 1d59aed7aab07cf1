import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { formerNameDays } from "@towpath/core/project/schema";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Field, Textarea } from "~/ui/field.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { NameInput, useServerName } from "../onboarding/server-name-field.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { FormerNames } from "./former-names.tsx";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { updateProject } from "./settings.functions.ts";

/** Name, description and visibility (PRJ-11). */
export function GeneralSettings({
  projectKey,
  saved,
  onSaved,
}: {
  projectKey: ProjectKey;
  saved: Saved;
  onSaved: (saved: Saved) => void;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const general = useGeneral(projectKey, project, onSaved);
  const { choice, description, isPublic, form } = general;
  const isRenamed = choice.name.toLowerCase() !== project.name.toLowerCase();
  return (
    <SettingsForm
      id="general"
      title="General"
      description="The server's name, and who can find it."
      form={form}
      isChanged={general.isChanged}
      onSubmit={general.submit}
      after={<SavedNote projectKey={projectKey} saved={saved} of={["general", "name"]} />}
    >
      <Field
        label="Name"
        error={general.nameRefusal ?? (isRenamed ? choice.problem : null)}
        hint={
          isRenamed
            ? `Its pages and endpoint move to the new name. The old address keeps working for ${formerNameDays} days.`
            : "Part of its address."
        }
        count={choice.name.length}
        max={32}
      >
        {(control) => <NameInput control={control} choice={choice} />}
      </Field>
      <FormerNames projectKey={projectKey} />
      <Field
        label="Description"
        optional
        hint="Shown to your organization, and on the public page."
        error={form.problems.description}
        count={description.value.length}
        max={500}
      >
        {(control) => (
          <Textarea {...control} value={description.value} onChange={(event) => description.set(event.target.value)} />
        )}
      </Field>
      <div className="flex flex-col gap-1">
        <Checkbox checked={isPublic.value} onChange={isPublic.set}>
          Public page
        </Checkbox>
        <p className="pl-6 text-xs text-muted">
          Anyone can see its description, tools and address at <code>/app/{project.name.toLowerCase()}</code> and in
          this instance's registry. Who can call it doesn't change.
        </p>
      </div>
    </SettingsForm>
  );
}

type Stored = { readonly name: string; readonly description: string | null; readonly isPublic: boolean };

/** State of the form: what is typed, and how saving went. */
function useGeneral(projectKey: ProjectKey, stored: Stored, onSaved: (saved: Saved) => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [opened, setOpened] = useState(stored);
  const choice = useServerName(projectKey.orgSlug, stored.name);
  const [description, setDescription] = useState(stored.description ?? "");
  const [isPublic, setPublic] = useState(stored.isPublic);
  const form = useSubmit();
  const [triedName, setTriedName] = useState<string | null>(null);
  const name = choice.name.trim();
  // Only what changed here: the rest may have changed elsewhere since this page was opened.
  const changed = {
    ...(name !== opened.name && { name }),
    ...(description.trim() !== (opened.description ?? "") && { description }),
    ...(isPublic !== opened.isPublic && { isPublic }),
  };
  const submit = () =>
    form.run(async () => {
      onSaved(null);
      setTriedName(name);
      const { pathName } = await updateProject({ data: { ...projectKey, ...changed } });
      setOpened({ name, description: description.trim() || null, isPublic });
      onSaved("name" in changed ? "name" : "general");
      if (!("name" in changed)) return queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      // Lists have the old name too.
      void queryClient.invalidateQueries();
      await navigate({
        to: "/$orgSlug/$projectName/settings",
        params: { orgSlug: projectKey.orgSlug, projectName: pathName },
        replace: true,
      });
    });
  return {
    ...{ choice, form, submit },
    /** Why the server refused this name; of another one it says nothing. */
    nameRefusal: triedName === name ? form.problems.name : undefined,
    description: { value: description, set: setDescription },
    isPublic: { value: isPublic, set: setPublic },
    isChanged: Object.keys(changed).length > 0,
  };
}
