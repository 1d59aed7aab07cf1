import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { BuildView } from "@towpath/core/build";
import type { Diagnosis } from "@towpath/core/build/contract";
import { type FormEvent, useState } from "react";
import { Button } from "~/ui/button.tsx";
import { InlineCode } from "~/ui/code-block.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { forkOf } from "../project-screen/branch-title.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { useMay } from "../session/guards.ts";
import { saveVariables, updateProject } from "../settings/settings.functions.ts";
import { redeploy } from "./build.functions.ts";
import { RedeployButton } from "./redeploy-button.tsx";
import { SettingsLink } from "./settings-link.tsx";
import { whatHelps } from "./what-helps.ts";

type Failed = { project: ProjectKey; build: BuildView; diagnosis: Diagnosis };

/**
 * What can be done about a failed build from here: the diagnosis's own fix and a rebuild in one, the settings where the
 * fix belongs, or building again. The primary button is the one that its remedy names; there is none where only the code
 * helps.
 */
export function Remedies({ project, build, diagnosis }: Failed) {
  const { fix } = diagnosis;
  const mayBuild = useMay("build.start");
  const mayUpdate = useMay("project.update");
  const mayStore = useMay("secret.manage");
  // Nothing goes live any more where its branch has ended.
  if (build.branch.isEnded) return null;
  if ((fix?.kind === "entrypoint" || fix?.kind === "root-directory") && mayBuild && mayUpdate) {
    return (
      <>
        {fix.candidates.map((value, index) => (
          <SetAndRebuild
            key={value}
            {...{ project, build, value }}
            setting={buildSettings[fix.kind]}
            variant={index === 0 ? "primary" : "secondary"}
          />
        ))}
        <SettingsLink project={project} section="build" />
      </>
    );
  }
  if (fix?.kind === "variables" && mayBuild && mayStore) {
    return <MissingVariables project={project} build={build} names={fix.names} />;
  }
  const helps = forkOf(build.branch.name) === null ? whatHelps(diagnosis.remedy) : "code";
  return (
    <>
      {helps !== "again" && helps !== "code" && <SettingsLink project={project} section={helps} variant="primary" />}
      <RedeployButton
        project={project}
        buildId={build.id}
        variant={helps === "again" ? "primary" : "secondary"}
        label="Rebuild"
      />
    </>
  );
}

/** Changes what the build lacked, then builds its commit again and opens the new build. */
function useFixAndRebuild(project: ProjectKey, build: BuildView, change: () => Promise<unknown>) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      await change();
      return redeploy({ data: { buildId: build.id } });
    },
    onSuccess: async ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: projectQueryKey(project) });
      await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...project, buildId: id } });
    },
    onError: (error) => toast.error("Couldn't start the build.", { description: failureText(error) }),
  });
}

const buildSettings = {
  entrypoint: { key: "entrypoint", label: "entrypoint" },
  "root-directory": { key: "rootDirectory", label: "root directory" },
} as const;

function SetAndRebuild({
  project,
  build,
  setting: { key, label },
  value,
  variant,
}: {
  project: ProjectKey;
  build: BuildView;
  setting: (typeof buildSettings)[keyof typeof buildSettings];
  value: string;
  variant: "primary" | "secondary";
}) {
  const { mutate, isPending } = useFixAndRebuild(project, build, () =>
    updateProject({ data: { ...project, [key]: value } }),
  );
  return (
    <Button
      variant={variant}
      busy={isPending}
      onClick={() => mutate()}
      className="h-auto min-h-8 max-w-full py-1 text-left whitespace-normal"
    >
      <span className="min-w-0 break-words">
        Set {label} to <code className="break-all">{value}</code> and rebuild
      </span>
    </Button>
  );
}

/** A field for each missing variable. Values are stored encrypted, for the environment of the build. */
function MissingVariables({
  project,
  build,
  names,
}: {
  project: ProjectKey;
  build: BuildView;
  names: readonly string[];
}) {
  const environment = build.branch.name === build.project.defaultBranch ? "production" : "preview";
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const secrets = names.flatMap((keyName) =>
    values[keyName]
      ? [{ keyName, secretValue: values[keyName], sensitive: true, environments: [environment] as const }]
      : [],
  );
  const { mutate, isPending } = useFixAndRebuild(project, build, () =>
    saveVariables({ data: { ...project, secrets: secrets.map((each) => ({ ...each, environments: [environment] })) } }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (secrets.length > 0) mutate();
  };
  return (
    <form onSubmit={submit} className="flex w-full min-w-0 flex-col gap-3">
      {names.map((keyName) => (
        <Field key={keyName} label={<code>{keyName}</code>}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="off"
              mono
              value={values[keyName] ?? ""}
              onChange={(event) => setValues({ ...values, [keyName]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <p className="text-xs text-muted">
        <InlineCode
          text={`Stored encrypted for ${environment === "production" ? "production" : "previews"}. Nobody can see ${names.length === 1 ? "the value" : "the values"} again.`}
        />
      </p>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" busy={isPending} disabled={secrets.length < names.length}>
          Save and rebuild
        </Button>
        <SettingsLink project={project} section="variables" />
      </div>
    </form>
  );
}
