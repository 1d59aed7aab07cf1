import { existsSync } from "node:fs";
import { parse } from "../commands/parse.ts";
import { print } from "../terminal/terminal.ts";
import { deploy as deployDirectory } from "./deploy.ts";
import { deployAgain } from "./deploy-again.ts";
import { deployGitUrl, gitTextOf } from "./deploy-git-url.ts";
import { deployPackage } from "./deploy-package.ts";
import { isPackage } from "./package-source.ts";

/** `towpath deploy`: of a directory, a Git URL, a package of the index, or a server that is there already. */
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
  // A directory is named with the server's name: what has none, and is no directory and no path, is a server.
  const isPath = /[/\\]|^\.+$/.test(source);
  return values.name === undefined && !isPath ? deployAgain(args) : deployDirectory(args);
}
