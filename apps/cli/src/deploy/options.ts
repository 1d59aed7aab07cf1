import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type AuthMode, splitArguments } from "@towpath/core/projects/project/schema";
import { parse } from "../commands/parse.ts";
import { type Assignment, environmentAssignments } from "../servers/env.ts";
import { authModeOf } from "../settings/auth-mode.ts";
import { UsageError } from "../terminal/terminal.ts";

/** Passed options. An absent setting keeps its value on an existing server and gets its default on a new one. */
export type DeployOptions = {
  readonly directory: string;
  readonly name: string;
  /** Empty: found in each commit. */
  readonly entrypoint: string | undefined;
  readonly arguments: readonly string[] | undefined;
  readonly requirements: string | undefined;
  readonly rootDirectory: string | undefined;
  readonly authMode: AuthMode | undefined;
  readonly organization: string | undefined;
  /** Build even when nothing changed. */
  readonly rebuild: boolean;
  /** Deploy over commits that others have pushed. */
  readonly overwrite: boolean;
  /** Variables that are set before the build. */
  readonly variables: readonly Assignment[];
  /** The branch of a preview; undefined: production. */
  readonly preview: string | undefined;
  readonly message: string | undefined;
  readonly "data-dir": string | undefined;
};

/** @throws UsageError when a quote in `--args` isn't closed */
export function argumentsOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const argv = splitArguments(text);
  if (argv === null) throw new UsageError(`A quote is not closed in --args ${text}`);
  return argv;
}

/** @throws CommandError naming the option or directory that is wrong. */
export function parseDeployOptions(args: string[]): DeployOptions {
  const { values, positionals } = parse("deploy", args);
  const [given = ""] = positionals;
  if (values.follow) throw new UsageError("--follow is for packages, not for directories.");
  for (const option of ["branch", "token-env"] as const) {
    if (values[option] !== undefined) throw new UsageError(`--${option} is for Git URLs, not for directories.`);
  }
  const directory = resolve(given);
  if (!existsSync(directory) || !statSync(directory).isDirectory())
    throw new UsageError(`There is no directory ${directory}.`);
  if (!values.name) throw new UsageError(`Name the server: towpath deploy ${given} --name my-server-one`);
  return {
    directory,
    name: values.name,
    entrypoint: values.entrypoint,
    arguments: argumentsOf(values.args),
    requirements: values.requirements,
    rootDirectory: values["root-directory"],
    authMode: authModeOf(values),
    organization: values.organization,
    rebuild: values.rebuild ?? false,
    overwrite: values.overwrite ?? false,
    variables: environmentAssignments(values.env ?? []),
    preview: values.preview,
    message: values.message,
    "data-dir": values["data-dir"],
  };
}
