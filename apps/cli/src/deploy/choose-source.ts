import { existsSync } from "node:fs";
import { parse } from "../commands/parse.ts";
import { print } from "../terminal/terminal.ts";
import { deploy as deployDirectory } from "./deploy.ts";
import { deployAgain } from "./deploy-again.ts";
import { deployGitUrl, gitTextOf } from "./deploy-git-url.ts";
import { deployPackage } from "./deploy-package.ts";
import { isPackage } from "./package-source.ts";

/** `towpath deploy`: a directory, a Git URL, a package of the index, or an existing server. */
export async function deploy(args: string[]): Promise<number> {
  const { values, positionals } = parse("deploy", args);
  const [source = ""] = positionals;
  if (isPackage(source)) return deployPackage(args);
  if (existsSync(source)) return deployDirectory(args);
  const repository = gitTextOf(source);
  if (repository !== null) {
    if (!/[:@]/.test(source)) print(`There is no directory ${source} here: this is ${repository.url}.`);
    return deployGitUrl(args, repository);
  }
  // Directories need `--name`: without it, a name that is no directory and no path is an existing server.
  const isPath = /[/\\]|^\.+$/.test(source);
  return values.name === undefined && !isPath ? deployAgain(args) : deployDirectory(args);
}
