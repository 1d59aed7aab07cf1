import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { formerNameDays } from "@towpath/core/projects/project/schema";
import { useState } from "react";
import { NameInput, useServerName } from "~/features/onboarding/server-form/server-name-field.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { formerNamesQuery, updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Field, TextareaField } from "~/ui/field.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { type Saved, SavedChanges } from "./saved-changes.tsx";

const FormerNameList = lazyPart(async () => (await import("./former-name-list.tsx")).FormerNameList);

type GeneralSettingsProps = {
  projectKey: ProjectKey;
  saved: Saved;
  onSaved: (saved: Saved) => void;
};

/** Name, description and visibility (PRJ-11). */
export function GeneralSettings({ projectKey, saved, onSaved }: GeneralSettingsProps) {
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
      after={<SavedChanges projectKey={projectKey} saved={saved} of={["general", "name"]} />}
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
      <TextareaField
        label="Description"
        optional
        hint="Shown to your organization, and on the public page."
        error={form.problems.description}
        count={description.value.length}
        max={500}
        value={description.value}
        onChange={(next) => description.set(next)}
      />
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

/** State of the form: input and the result of saving. */
function useGeneral(projectKey: ProjectKey, stored: Stored, onSaved: (saved: Saved) => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [opened, setOpened] = useState(stored);
  const choice = useServerName(projectKey.orgSlug, stored.name, stored.name);
  const [description, setDescription] = useState(stored.description ?? "");
  const [isPublic, setPublic] = useState(stored.isPublic);
  const form = useSubmit();
  const [triedName, setTriedName] = useState<string | null>(null);
  const name = choice.name.trim();
  // Only fields changed here: others may have changed elsewhere since this page was opened.
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
    choice,
    form,
    submit,
    /** Why the server refused this name; undefined for a name that it hasn't checked. */
    nameRefusal: triedName === name ? form.problems.name : undefined,
    description: { value: description, set: setDescription },
    isPublic: { value: isPublic, set: setPublic },
    isChanged: Object.keys(changed).length > 0,
  };
}

/** Former names of a renamed server, which still work, with a button to release each (PRJ-11). */
function FormerNames({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: names = [], isError, refetch } = useQuery(formerNamesQuery(projectKey));
  if (isError) {
    return (
      <p className="text-sm text-muted">
        Couldn't load the former names.{" "}
        <Button variant="link" size="inline" onClick={() => void refetch()}>
          Try again
        </Button>
      </p>
    );
  }
  return names.length === 0 ? null : <FormerNameList projectKey={projectKey} names={names} />;
}
