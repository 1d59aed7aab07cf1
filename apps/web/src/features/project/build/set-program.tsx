import { useSuspenseQuery } from "@tanstack/react-query";
import type { BuildView } from "@towpath/core/delivery/build";
import type { DiagnosisCode } from "@towpath/core/delivery/build/contract";
import { argumentsText, splitArguments } from "@towpath/core/projects/project/schema";
import { BuildField, useBuildFields } from "~/features/onboarding/server-form/build-fields.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { Button } from "~/ui/button.tsx";
import { Form } from "~/ui/form.tsx";
import { SettingsLink } from "./settings-link.tsx";
import { useFixAndRebuild } from "./use-fix-and-rebuild.ts";

type SetProgramProps = { project: ProjectKey; build: BuildView; code: DiagnosisCode };

/** The settings that end a failure, to be saved and built with, where the build knows no value for them. */
export function SetProgram({ project, build, code }: SetProgramProps) {
  const { data: stored } = useSuspenseQuery(projectQuery(project));
  const fields = useBuildFields({
    ...stored,
    arguments: argumentsText(stored.arguments),
    requirements: stored.requirements ?? "",
    rootDirectory: stored.rootDirectory ?? "",
  });
  const { values, change, problem } = fields;
  const changed =
    code === "requirements_not_found"
      ? { requirements: values.requirements || null }
      : code === "source_unavailable"
        ? { rootDirectory: values.rootDirectory.trim() || null }
        : {
            entrypoint: values.entrypoint.trim() || null,
            arguments: [...(splitArguments(values.arguments) ?? [])],
          };
  const { mutate, isPending } = useFixAndRebuild(project, build, () =>
    updateProject({ data: { ...project, ...changed } }),
  );
  const field = (key: "entrypoint" | "arguments" | "requirements" | "rootDirectory", label: string, hint: string) => (
    <BuildField
      label={label}
      optional
      hint={hint}
      error={problem(key)}
      value={values[key]}
      onChange={(value) => change({ [key]: value })}
    />
  );
  return (
    <Form onSubmit={() => fields.check() && mutate()} className="flex w-full min-w-0 flex-col gap-3">
      {code === "requirements_not_found" ? (
        field("requirements", "Requirements file", "Empty: what uv.lock or pyproject.toml lists.")
      ) : code === "source_unavailable" ? (
        field("rootDirectory", "Root directory", "The server's directory; empty: the whole repository.")
      ) : (
        <>
          {field("entrypoint", "Entrypoint", "Empty: the build finds it.")}
          {field("arguments", "Arguments", "What you would type after its name in a terminal.")}
        </>
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" busy={isPending}>
          Save and rebuild
        </Button>
        <SettingsLink project={project} section="build" />
      </div>
    </Form>
  );
}
