import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { type AuthMode, argumentsText, splitArguments, watchPathsProblem } from "@towpath/core/projects/project/schema";
import { useState } from "react";
import { BuildFields, useBuildFields } from "~/features/onboarding/server-form/build-fields.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { TextareaField } from "~/ui/field.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { type Saved, SavedChanges } from "./saved-changes.tsx";

type BuildSettingsProps = {
  projectKey: ProjectKey;
  saved: Saved;
  onSaved: (saved: Saved) => void;
};

/** Entrypoint, arguments, requirements file, root directory and watch paths (PRJ-11, VAL-2, VAL-3, BLD-15). */
export function BuildSettings({ projectKey, saved, onSaved }: BuildSettingsProps) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { fields, watch, form, isChanged, submit } = useBuildSettings(projectKey, project, onSaved);
  return (
    <SettingsForm
      id="build"
      title="Build"
      description="Build files apply to the next build, watch paths to the next push."
      form={form}
      isChanged={isChanged}
      onSubmit={submit}
      after={<SavedChanges projectKey={projectKey} saved={saved} of={["build", "watch"]} />}
    >
      <BuildFields fields={fields} hasFiles={project.package === null} />
      {project.package === null ? (
        <TextareaField
          label="Watch paths"
          optional
          hint={
            <>
              One per line, from the repository's root, such as <code>servers/weather</code>,{" "}
              <code>{"shared/**/*.py"}</code> or <code>{"!**/*.md"}</code>. A push that changes none of them doesn't
              start a build.
            </>
          }
          error={watch.problem}
          mono
          rows={3}
          value={watch.value}
          onChange={(next) => watch.change(next)}
        />
      ) : null}
    </SettingsForm>
  );
}

type Stored = {
  readonly entrypoint: string;
  readonly arguments: readonly string[];
  readonly requirements: string | null;
  readonly rootDirectory: string | null;
  readonly watchPaths: readonly string[];
  /** Chosen on the Access page. */
  readonly authMode: AuthMode;
};

/** Settings that take effect with the next build. */
const forBuilds = ["entrypoint", "arguments", "requirements", "rootDirectory"] as const;

const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** State of the "Build" form: values, errors and submission. */
function useBuildSettings(projectKey: ProjectKey, stored: Stored, onSaved: (saved: Saved) => void) {
  const queryClient = useQueryClient();
  const fields = useBuildFields({
    ...stored,
    arguments: argumentsText(stored.arguments),
    requirements: stored.requirements ?? "",
    rootDirectory: stored.rootDirectory ?? "",
  });
  const [watchPaths, setWatchPaths] = useState(stored.watchPaths.join("\n"));
  const [opened, setOpened] = useState(stored);
  const form = useSubmit();
  const { entrypoint, arguments: argv, requirements, rootDirectory } = fields.values;
  const now = {
    entrypoint: entrypoint.trim(),
    arguments: [...(splitArguments(argv) ?? [])],
    requirements: requirements || null,
    rootDirectory: rootDirectory.trim() || null,
    watchPaths: linesOf(watchPaths),
  };
  // Only fields changed here: others may have changed elsewhere since this page was opened.
  const changed: Partial<typeof now> = Object.fromEntries(
    Object.entries(now).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(opened[key as keyof Stored])),
  );
  const submit = () => {
    if (!fields.check() || watchPathsProblem(now.watchPaths)) return;
    onSaved(null);
    void form.run(async () => {
      try {
        const { entrypoint: path } = changed;
        await updateProject({ data: { ...projectKey, ...changed, entrypoint: path === "" ? null : path } });
      } catch (error) {
        if (isTowpathErrorCode(error, "invalid_input")) fields.setRefused(error.fields);
        throw error;
      }
      setOpened((before) => ({ ...before, ...now }));
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      onSaved(forBuilds.some((key) => key in changed) ? "build" : "watch");
    });
  };

  return {
    fields: {
      ...fields,
      change: (values: Parameters<typeof fields.change>[0]) => {
        fields.change(values);
        onSaved(null);
      },
    },
    watch: {
      value: watchPaths,
      problem: form.problems.watchPaths ?? watchPathsProblem(now.watchPaths),
      change: (text: string) => {
        setWatchPaths(text);
        form.clear();
        onSaved(null);
      },
    },
    form,
    submit,
    isChanged: Object.keys(changed).length > 0,
  };
}
