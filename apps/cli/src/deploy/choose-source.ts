import { existsSync } from "node:fs";
import { parse } from "../commands/parse.ts";
import { deploy as deployDirectory } from "./deploy.ts";
import { deployAgain } from "./deploy-again.ts";
import { deployPackage } from "./deploy-package.ts";
import { isPackage } from "./package-source.ts";

/** `towpath deploy`: of a directory, of a package of the index, or of a server that is there already. */
export async function deploy(args: string[]): Promise<number> {
  const { values, positionals } = parse("deploy", args);
  const [source = ""] = positionals;
  if (isPackage(source)) return deployPackage(args);
  // A directory is named with the server's name: what has none, and is no directory and no path, is a server.
  const isPath = /[/\\]|^\.+$/.test(source) || existsSync(source);
  return values.name === undefined && !isPath ? deployAgain(args) : deployDirectory(args);
}
