import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse } from "../commands/parse.ts";
import { type Target, targetOf } from "../instance/target.ts";
import { readInput } from "../terminal/input.ts";
import { CommandError, output, print, UsageError } from "../terminal/terminal.ts";

const program = fileURLToPath(new URL("../../../../towpath", import.meta.url));

/**
 * `towpath git-credential setup` configures git to get the password of the instance's repositories from this terminal,
 * by running `towpath git-credential get` (gitcredentials(7)).
 */
export async function gitCredential(args: string[]): Promise<number> {
  const { values, positionals } = parse("git-credential", args);
  const [operation = ""] = positionals;
  if (operation === "setup") return setUp(await targetOf(values["data-dir"]), values["data-dir"]);
  if (operation === "get") return answer(await readInput(), await targetOf(values["data-dir"]));
  // git reports the credential that worked or was refused. The login keeps the key, so there is nothing to do.
  if (operation === "store" || operation === "erase") return 0;
  throw new UsageError("Usage: towpath git-credential setup. See towpath help git-credential.");
}

/** Prints nothing for other hosts: git then asks its next helper, or the person. */
function answer(asked: string, { url, token }: Target): number {
  const { protocol, host } = Object.fromEntries(
    asked.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  if (`${protocol}://${host}` === new URL(url).origin) process.stdout.write(`username=towpath\npassword=${token}\n`);
  return 0;
}

async function setUp({ url }: Target, dataDirectory: string | undefined): Promise<number> {
  const { origin } = new URL(url);
  const argv = [program, "git-credential", ...(dataDirectory === undefined ? [] : ["--data-dir", dataDirectory])];
  const helper = `!${argv.map((argument) => `'${argument.replaceAll("'", `'\\''`)}'`).join(" ")}`;
  try {
    await promisify(execFile)("git", ["config", "--global", "--replace-all", `credential.${origin}.helper`, helper]);
  } catch (error) {
    const reason = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
    throw new CommandError(`Git's settings could not be changed: ${reason}`);
  }
  output({ url: origin, helper }, () =>
    print(
      `Git now signs in to ${origin} by itself, as you do here. Undo: git config --global --unset credential.${origin}.helper`,
    ),
  );
  return 0;
}
