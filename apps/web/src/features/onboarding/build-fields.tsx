import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import {
  type AuthMode,
  entrypointProblem,
  requirementsProblem,
  rootDirectoryProblem,
} from "@towpath/core/project/schema";
import { type ReactNode, useId, useState } from "react";
import { classNames } from "~/ui/class-names.ts";
import { InlineCode } from "~/ui/code-block.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { authModes } from "../project-screen/project-labels.tsx";
import type { Missing } from "./use-file-checks.ts";

// The fields that deploying a repository and changing its project's settings have in common.

export type BuildValues = {
  readonly entrypoint: string;
  readonly requirements: string;
  /** Empty: the repository's. */
  readonly rootDirectory: string;
  readonly authMode: AuthMode;
};

/** State of the fields: their values, and the error of each path (VAL-2, VAL-3, BLD-15). */
export function useBuildFields(initial: BuildValues) {
  const { entrypoint, requirements, rootDirectory, authMode } = initial;
  const [values, setValues] = useState({ entrypoint, requirements, rootDirectory, authMode });
  const [isChecked, setChecked] = useState(false);
  const [refused, setRefused] = useState<Readonly<Record<string, string>>>({});
  const found = {
    entrypoint: entrypointProblem(values.entrypoint),
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
    /** Shows every error; returns whether there is none. */
    check: (): boolean => {
      setChecked(true);
      return Object.values(found).every((problem) => problem === null);
    },
    /** The server's errors by field. */
    refused,
    setRefused,
  };
}

/** Entrypoint, requirements file and root directory. */
export function BuildFields({
  fields: { values, change, problem },
  entrypoints = [],
  requirementFiles = [],
  missing = { entrypoint: null, requirements: null },
}: {
  readonly fields: ReturnType<typeof useBuildFields>;
  /** What to say of a file that isn't in the repository. */
  readonly missing?: Missing;
  /** Candidates to choose from. */
  readonly entrypoints?: readonly string[];
  readonly requirementFiles?: readonly string[];
}) {
  return (
    <>
      <PathField
        label="Entrypoint"
        hint={
          <>
            The server's file. Name the object too if it isn't <code>mcp</code>, <code>server</code> or <code>app</code>
            : <code>server.py:object</code>
          </>
        }
        error={problem("entrypoint") ?? missing.entrypoint}
        value={values.entrypoint}
        onChange={(entrypoint) => change({ entrypoint })}
        candidates={entrypoints}
      />
      <PathField
        label="Requirements file"
        optional
        hint="Only if dependencies are neither in uv.lock nor in pyproject.toml."
        error={problem("requirements") ?? missing.requirements}
        value={values.requirements}
        onChange={(requirements) => change({ requirements })}
        candidates={requirementFiles}
      />
      <PathField
        label="Root directory"
        optional
        hint="In a monorepo, the server's directory. The files above are relative to it."
        error={problem("rootDirectory")}
        value={values.rootDirectory}
        onChange={(rootDirectory) => change({ rootDirectory })}
      />
    </>
  );
}

/** A path in the repository, with candidates to choose from (VAL-2, VAL-3). */
function PathField({
  label,
  hint,
  error,
  optional = false,
  value,
  onChange,
  candidates = [],
}: {
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: string | null;
  readonly optional?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** To choose from. */
  readonly candidates?: readonly string[];
}) {
  return (
    <div>
      <Field label={label} hint={hint} error={error ? <InlineCode text={error} /> : null} optional={optional}>
        {(control) => (
          <Input
            {...control}
            mono
            className="h-10 text-sm"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      {candidates.length > 0 ? (
        <ul aria-label={`Found for ${label}`} className="mt-2 flex flex-wrap gap-1.5">
          {candidates.map((path) => (
            <li key={path}>
              <button
                type="button"
                aria-pressed={value === path}
                onClick={() => onChange(path)}
                className="rounded-full border px-2.5 py-0.5 font-mono text-xs text-muted transition-colors hover:bg-hover hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent-text"
              >
                {path}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

const allModes = ["towpath-cloud", "towpath-public", "passthrough"] as const satisfies readonly AuthMode[];

/** Choice of who can call the server (PRJ-12). */
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
  const id = useId();
  return (
    <div>
      <p id={id} className="mb-1.5 text-sm font-medium">
        Who can call it
      </p>
      <RadioGroup
        aria-labelledby={id}
        value={value}
        onValueChange={(next) => onChange(next as Mode)}
        className={classNames("grid gap-2", modes.length > 2 ? "sm:grid-cols-3" : "sm:grid-cols-2")}
      >
        {modes.map((mode) => {
          const { icon: Icon, label, note } = authModes[mode];
          return (
            <Radio.Root
              key={mode}
              value={mode}
              nativeButton
              render={<button type="button" />}
              className="flex flex-col items-start rounded-lg border bg-surface p-3 text-left transition-colors hover:bg-hover data-checked:border-accent data-checked:bg-accent-soft"
            >
              <span className="flex items-center gap-2 text-sm font-medium">
                <Icon className="size-4 text-accent-text" aria-hidden />
                {label}
              </span>
              <span className="mt-1 block text-xs text-pretty text-muted">{note}</span>
            </Radio.Root>
          );
        })}
      </RadioGroup>
    </div>
  );
}
