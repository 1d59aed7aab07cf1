import {
  type AuthMode,
  argumentsTextProblem,
  entrypointSettingProblem,
  requirementsProblem,
  rootDirectoryProblem,
} from "@towpath/core/projects/project/schema";
import { type ReactNode, useState } from "react";
import { authModes } from "~/features/shared/project-screen/project-labels.tsx";
import { InlineCode } from "~/ui/code-block.tsx";
import { TextField } from "~/ui/field.tsx";
import { ChoiceCards } from "~/ui/segmented.tsx";
import { Candidates } from "./candidates.tsx";
import type { Missing } from "./use-file-checks.ts";

// The fields that deploying a repository and changing its project's settings have in common.

export type BuildValues = {
  /** Empty: found in each commit. */
  readonly entrypoint: string;
  /** As in a terminal: see `splitArguments`. */
  readonly arguments: string;
  readonly requirements: string;
  /** Empty: the repository's. */
  readonly rootDirectory: string;
  readonly authMode: AuthMode;
};

/** State of the fields: their values, and the error of each path (VAL-2, VAL-3, BLD-15). */
export function useBuildFields(initial: BuildValues) {
  const { entrypoint, arguments: argv, requirements, rootDirectory, authMode } = initial;
  const [values, setValues] = useState({ entrypoint, arguments: argv, requirements, rootDirectory, authMode });
  const [isChecked, setChecked] = useState(false);
  const [refused, setRefused] = useState<Readonly<Record<string, string>>>({});
  const found = {
    entrypoint: entrypointSettingProblem(values.entrypoint.trim()),
    arguments: argumentsTextProblem(values.arguments),
    requirements: requirementsProblem(values.requirements),
    rootDirectory: rootDirectoryProblem(values.rootDirectory),
  };
  return {
    values,
    change: (changed: Partial<BuildValues>) => {
      setValues((current) => ({ ...current, ...changed }));
      setRefused((current) => Object.fromEntries(Object.entries(current).filter(([field]) => !(field in changed))));
    },
    /** An error shows once its field was changed or the form was submitted. */
    problem: (field: keyof typeof found) =>
      refused[field] ?? (isChecked || values[field] !== initial[field] ? found[field] : null),
    /** Shows all errors; returns whether there are none. */
    check: (): boolean => {
      setChecked(true);
      return Object.values(found).every((problem) => problem === null);
    },
    /** The server's errors by field. */
    refused,
    setRefused,
  };
}

/** Entrypoint, arguments, requirements file and root directory. */
export function BuildFields({
  fields: { values, change, problem },
  entrypoints = [],
  requirementFiles = [],
  rootDirectories = [],
  missing = { entrypoint: null, requirements: null },
  hasFiles = true,
}: {
  readonly fields: ReturnType<typeof useBuildFields>;
  /** Problems of files that aren't in the repository. */
  readonly missing?: Missing;
  /** Candidates to choose from. */
  readonly entrypoints?: readonly string[];
  readonly requirementFiles?: readonly string[];
  readonly rootDirectories?: readonly string[];
  /** False for a package of the index, which has no repository. */
  readonly hasFiles?: boolean;
}) {
  return (
    <>
      <BuildField
        label="Entrypoint"
        optional
        placeholder="Found automatically"
        hint={
          <>
            Leave it empty and the build finds it. Or name a file, <code>server.py:object</code>, a console script, a
            package or <code>package.module:function</code>.
          </>
        }
        error={problem("entrypoint") ?? missing.entrypoint}
        value={values.entrypoint}
        onChange={(entrypoint) => change({ entrypoint })}
        candidates={entrypoints}
      />
      <BuildField
        label="Arguments"
        optional
        hint={
          <>
            For the program, such as <code>--db-path :memory:</code>. Everyone who can see this server sees them, so
            write <code>${"{NAME}"}</code> instead of a secret: it stands for that environment variable.
          </>
        }
        error={problem("arguments")}
        value={values.arguments}
        onChange={(argv) => change({ arguments: argv })}
      />
      {hasFiles ? (
        <>
          <BuildField
            label="Requirements file"
            optional
            hint="Only if dependencies are neither in uv.lock nor in pyproject.toml."
            error={problem("requirements") ?? missing.requirements}
            value={values.requirements}
            onChange={(requirements) => change({ requirements })}
            candidates={requirementFiles}
          />
          <BuildField
            label="Root directory"
            optional
            hint="In a monorepo, the server's directory. The files above are relative to it."
            error={problem("rootDirectory")}
            value={values.rootDirectory}
            onChange={(rootDirectory) => change({ rootDirectory })}
            candidates={rootDirectories}
          />
        </>
      ) : null}
    </>
  );
}

/** A setting of builds, such as a path in the repository, with candidates to choose from (VAL-2, VAL-3). */
export function BuildField({
  label,
  hint,
  error,
  optional = false,
  placeholder,
  value,
  onChange,
  candidates = [],
}: {
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: string | null;
  readonly optional?: boolean;
  readonly placeholder?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** To choose from. */
  readonly candidates?: readonly string[];
}) {
  return (
    <div>
      <TextField
        label={label}
        hint={hint}
        error={error ? <InlineCode text={error} /> : null}
        optional={optional}
        {...(placeholder !== undefined && { placeholder })}
        mono
        className="h-10 text-sm"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={value}
        onChange={onChange}
      />
      <Candidates label={`Found for ${label}`} values={candidates} chosen={value} onChoose={onChange} />
    </div>
  );
}

const allModes = ["towpath-cloud", "towpath-public", "passthrough"] as const satisfies readonly AuthMode[];

/** Chooses who can call the server (PRJ-12). */
export function AuthModeChoice<Mode extends AuthMode = AuthMode>({
  value,
  onChange,
  modes = allModes as unknown as readonly Mode[],
}: {
  readonly value: Mode;
  readonly onChange: (mode: Mode) => void;
  /** Those to choose from. */
  readonly modes?: readonly Mode[];
}) {
  return (
    <div>
      <p className="mb-1.5 text-sm font-medium">Who can call it</p>
      <ChoiceCards
        label="Who can call it"
        value={value}
        onChange={onChange}
        options={modes.map((mode) => {
          const { icon: Icon, label, description } = authModes[mode];
          return { value: mode, label, description, icon: <Icon aria-hidden /> };
        })}
      />
    </div>
  );
}
