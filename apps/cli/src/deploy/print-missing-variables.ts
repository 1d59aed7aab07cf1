import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { declaredVariables, filesWithVariables } from "@towpath/builder/declared-variables";
import { dim, print } from "../terminal/terminal.ts";
import type { DeployOptions } from "./options.ts";

const maxNamed = 6;

/**
 * Prints the variables that a new server's files name and that weren't passed, before the first build fails without
 * them.
 */
export async function printMissingVariables(
  files: readonly string[],
  {
    directory,
    rootDirectory,
    variables,
    name,
  }: Pick<DeployOptions, "directory" | "rootDirectory" | "variables" | "name">,
): Promise<void> {
  const prefix = rootDirectory ? `${rootDirectory.replace(/^\.?\/|\/$/g, "")}/` : "";
  const paths = filesWithVariables(files, prefix);
  const texts = await Promise.all(paths.map((path) => readFile(join(directory, path), "utf8").catch(() => "")));
  const named = declaredVariables(new Map(paths.map((path, at) => [path, texts[at] ?? ""])));
  const missing = named.filter((each) => !variables.some(({ keyName }) => keyName === each.name));
  if (missing.length === 0) return;
  const shown = missing.slice(0, maxNamed).map((each) => `${each.name} (${each.file})`);
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  const what = missing.length === 1 ? "a variable that isn't set" : "variables that aren't set";
  print(`Its files name ${what}: ${shown.join(", ")}${more}.`);
  print(dim(`Set what it needs with --env KEY=VALUE, or later: towpath env ${name} set KEY=VALUE`));
}
