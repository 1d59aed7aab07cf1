import { posix } from "node:path";
import { z } from "zod";
import { normalizeName } from "./requirements-file.ts";

/** Client configurations in a README: `"command": …, "args": […]`, in either order. */
const configurations =
  /"command"\s*:\s*"([^"\n]{1,300})"\s*,\s*"args"\s*:\s*(\[(?:"[^"\n]{0,300}"|[\s,]){0,100}\])|"args"\s*:\s*(\[(?:"[^"\n]{0,300}"|[\s,]){0,100}\])\s*,\s*"command"\s*:\s*"([^"\n]{1,300})"/g;

/** A subcommand, and the option for stdio: nothing that a user would have to choose, such as a path or a key. */
const plainArguments = /^(?!$)([a-z][a-z-]{0,30})?( ?(--stdio|(--transport|-t)[ =]stdio))?$/;

/**
 * The arguments with which a README starts a program, such as `serve`; empty if it has none, or others than such plain
 * ones. `names`: of the program and its package. Pure.
 */
export function readmeArguments(readme: string, names: readonly string[]): readonly string[] {
  const known = new Set(names.map(normalizeName));
  for (const [, before, args, argsFirst, after] of readme.matchAll(configurations)) {
    const command = [before ?? after ?? "", ...listed(args ?? argsFirst ?? "")];
    const at = command.findLastIndex((part) => known.has(normalizeName(nameIn(part))));
    const rest = at === -1 ? [] : command.slice(at + 1);
    if (plainArguments.test(rest.join(" "))) return rest;
  }
  return [];
}

function listed(json: string): readonly string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(json.replace(/,\s*\]$/, "]")));
  } catch {
    return [];
  }
}

/** `shop-mcp` from `/usr/bin/shop-mcp` or `shop-mcp[cli]@latest`. */
const nameIn = (part: string) => posix.basename(part).split(/[[@=<>~!]/)[0] ?? "";
