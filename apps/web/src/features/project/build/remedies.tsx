import { Link } from "@tanstack/react-router";
import type { BuildView } from "@towpath/core/delivery/build";
import type { Diagnosis, RepositoryChange } from "@towpath/core/delivery/build/contract";
import { FileCode, WandSparkles } from "lucide-react";
import { useState } from "react";
import { fixTitle } from "~/features/project/code/fix-title.ts";
import { forkOf } from "~/features/shared/project-screen/branch-title.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useCodeUrl } from "~/features/shared/project-screen/repository-links.tsx";
import { saveVariables, updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { InlineCode } from "~/ui/code-block.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { RedeployButton } from "./redeploy-button.tsx";
import { SettingsLink } from "./settings-link.tsx";
import { useFixAndRebuild } from "./use-fix-and-rebuild.ts";

// Of some failures only.
const SetProgram = lazyPart(
  async () => (await import("./set-program.tsx")).SetProgram,
  <Skeleton className="h-52 w-full" />,
);

type Failed = { project: ProjectKey; build: BuildView; diagnosis: Diagnosis };

/**
 * Actions for a failed build by its diagnosis: a change of settings with a rebuild, the settings, the line of code, or
 * a rebuild. If only a change of the code helps, no rebuild is offered: the change is, where it is known (CAP-5).
 */
export function Remedies({ project, build, diagnosis }: Failed) {
  const { action } = diagnosis;
  const mayBuild = useMay("build.start");
  const mayUpdate = useMay("project.update");
  const mayStore = useMay("secret.manage");
  // Only its owner changes a fork.
  const mayEdit = mayBuild && forkOf(build.branch.name) === null;
  // Nothing can go live once the branch is gone.
  if (build.branch.isEnded) return null;
  const again = (variant: "primary" | "secondary") => (
    <RedeployButton project={project} buildId={build.id} variant={variant} />
  );
  switch (action.kind) {
    case "code":
      return (
        <>
          {mayEdit && action.change && <FixButton project={project} build={build} change={action.change} />}
          <OpenCode
            project={project}
            build={build}
            path={action.path}
            line={diagnosis.line}
            mayEdit={mayEdit}
            isSecond={mayEdit && action.change !== undefined}
          />
        </>
      );
    case "rebuild":
      return again("primary");
    case "operator":
      return again("secondary");
    case "variables":
      if (mayBuild && mayStore) return <MissingVariables project={project} build={build} names={action.names} />;
      return <SettingsLink project={project} section="variables" variant="primary" />;
    case "settings":
      if (action.section === "build" && mayBuild && mayUpdate)
        return <SetProgram project={project} build={build} code={diagnosis.code} />;
      return (
        <>
          <SettingsLink project={project} section={action.section} variant="primary" />
          {again("secondary")}
        </>
      );
    case "entrypoint":
    case "root-directory":
      return (
        <>
          {mayBuild &&
            mayUpdate &&
            action.candidates.map((value, index) => (
              <SetAndRebuild
                key={value}
                project={project}
                build={build}
                value={value}
                setting={buildSettings[action.kind]}
                variant={index === 0 ? "primary" : "secondary"}
              />
            ))}
          <SettingsLink project={project} section="build" />
        </>
      );
  }
}

type FixButtonProps = { project: ProjectKey; build: BuildView; change: RepositoryChange };

/** Leads to the change made in the branch, to be committed. */
function FixButton({ project, build, change }: FixButtonProps) {
  return (
    <Link
      to="/$orgSlug/$projectName/code"
      params={project}
      search={{ branch: build.branch.name, fix: build.id }}
      className={buttonLook({ variant: "primary", className: wrapped })}
    >
      <WandSparkles />
      <span className="min-w-0 break-words">{fixTitle(change)}</span>
    </Link>
  );
}

const wrapped = "h-auto min-h-8 max-w-full py-1 text-left whitespace-normal";

type OpenCodeProps = {
  project: ProjectKey;
  build: BuildView;
  path: string | null;
  line: number | null;
  mayEdit: boolean;
  /** After a button that makes the change. */
  isSecond: boolean;
};

/** A link to the file to edit it; for others to the host's page of it, if there is one. */
function OpenCode({ project, build, path, line, mayEdit, isSecond }: OpenCodeProps) {
  const url = useCodeUrl(build.commitSha, path, line);
  if (path === null) return null;
  const content = (
    <>
      <FileCode />
      <span className="min-w-0 truncate">
        Open <code>{path}</code>
        {line !== null && ` line ${line}`}
      </span>
    </>
  );
  const look = buttonLook({ variant: isSecond ? "secondary" : "primary" });
  if (mayEdit) {
    return (
      <Link
        to="/$orgSlug/$projectName/code"
        params={project}
        search={{
          branch: build.branch.name,
          file: path,
          ...(line !== null && { line, commit: build.commitSha }),
        }}
        className={look}
      >
        {content}
      </Link>
    );
  }
  if (url === null) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer" className={look}>
      {content}
    </a>
  );
}

const buildSettings = {
  entrypoint: { key: "entrypoint", label: "entrypoint" },
  "root-directory": { key: "rootDirectory", label: "root directory" },
} as const;

type SetAndRebuildProps = {
  project: ProjectKey;
  build: BuildView;
  setting: (typeof buildSettings)[keyof typeof buildSettings];
  value: string;
  variant: "primary" | "secondary";
};

function SetAndRebuild({ project, build, setting: { key, label }, value, variant }: SetAndRebuildProps) {
  const { mutate, isPending } = useFixAndRebuild(project, build, () =>
    updateProject({ data: { ...project, [key]: value } }),
  );
  return (
    <Button variant={variant} busy={isPending} onClick={() => mutate()} className={wrapped}>
      <span className="min-w-0 break-words">
        Set {label} to <code className="break-all">{value}</code> and rebuild
      </span>
    </Button>
  );
}

type MissingVariablesProps = {
  project: ProjectKey;
  build: BuildView;
  names: readonly string[];
};

/** A field for each missing variable. Values are stored encrypted, for the environment of the build. */
function MissingVariables({ project, build, names }: MissingVariablesProps) {
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
  const submit = () => {
    if (secrets.length > 0) mutate();
  };
  return (
    <Form onSubmit={submit} className="flex w-full min-w-0 flex-col gap-3">
      {names.map((keyName) => (
        <TextField
          key={keyName}
          label={<code>{keyName}</code>}
          type="password"
          autoComplete="off"
          mono
          value={values[keyName] ?? ""}
          onChange={(next) => setValues({ ...values, [keyName]: next })}
        />
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
    </Form>
  );
}
