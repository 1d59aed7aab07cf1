import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type AuthMode, argumentWords } from "@towpath/core/project/schema";
import { resolveDataDirectory } from "../instance/instance.ts";
import { authModeOf, authModeOptions } from "../settings/auth-mode.ts";
import { CommandError } from "../terminal/terminal.ts";

/** What was passed. An absent setting keeps its value on an existing server and gets its default on a new one. */
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
  readonly dataDirectory: string;
};

/** @throws CommandError for a text that can't be split into words */
export function argumentsOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const words = argumentWords(text);
  if (words === null) throw new CommandError(`A quote is not closed in --args ${text}`);
  return words;
}

/** @throws CommandError naming the option or directory that is wrong. */
export function parseDeployOptions(args: string[]): DeployOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: { type: "string" },
      entrypoint: { type: "string" },
      args: { type: "string" },
      requirements: { type: "string" },
      "root-directory": { type: "string" },
      ...authModeOptions,
      rebuild: { type: "boolean", default: false },
      overwrite: { type: "boolean", default: false },
      organization: { type: "string" },
      "data-dir": { type: "string" },
    },
  });
  const [given, ...more] = positionals;
  if (!given || more.length > 0) throw new CommandError("Name one directory: ./towpath deploy DIR --name NAME");
  if (!values.name) throw new CommandError("Name the server: ./towpath deploy DIR --name my-server-one");
  const directory = resolve(given);
  if (!existsSync(directory) || !statSync(directory).isDirectory())
    throw new CommandError(`There is no directory ${directory}.`);
  return {
    directory,
    name: values.name,
    entrypoint: values.entrypoint,
    arguments: argumentsOf(values.args),
    requirements: values.requirements,
    rootDirectory: values["root-directory"],
    authMode: authModeOf(values),
    organization: values.organization,
    rebuild: values.rebuild,
    overwrite: values.overwrite,
    dataDirectory: resolveDataDirectory(values["data-dir"]),
  };
}
