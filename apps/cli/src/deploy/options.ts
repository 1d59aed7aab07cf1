import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { AuthMode } from "@towpath/core/project/schema";
import { resolveDataDirectory } from "../instance/instance.ts";
import { authModeOf, authModeOptions } from "../settings/auth-mode.ts";
import { CommandError } from "../terminal/terminal.ts";

/** What was passed. An absent setting keeps its value on an existing server and gets its default on a new one. */
export type DeployOptions = {
  readonly directory: string;
  readonly name: string;
  readonly entrypoint: string | undefined;
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

const usualEntrypoints = ["server.py", "main.py", "app.py", "mcp_server.py", "src/server.py", "src/main.py"];

/** The entrypoint when none was named: a usual file name, or the only Python file of the directory. */
export function findEntrypoint(directory: string): string {
  if (!existsSync(directory)) throw new CommandError(`There is no directory ${directory}.`);
  const usual = usualEntrypoints.find((file) => existsSync(join(directory, file)));
  if (usual) return usual;
  const files = readdirSync(directory).filter((file) => file.endsWith(".py"));
  const [only] = files;
  if (files.length === 1 && only) return only;
  if (files.length === 0)
    throw new CommandError(`There is no Python file in ${directory}. Name one further down: --entrypoint DIR/FILE.py`);
  throw new CommandError(`Which file is the server? Name it: --entrypoint FILE.py (found: ${files.join(", ")}).`);
}

/** @throws CommandError naming the option or directory that is wrong. */
export function parseDeployOptions(args: string[]): DeployOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: { type: "string" },
      entrypoint: { type: "string" },
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
    requirements: values.requirements,
    rootDirectory: values["root-directory"],
    authMode: authModeOf(values),
    organization: values.organization,
    rebuild: values.rebuild,
    overwrite: values.overwrite,
    dataDirectory: resolveDataDirectory(values["data-dir"]),
  };
}
