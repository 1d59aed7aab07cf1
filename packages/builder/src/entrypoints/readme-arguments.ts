import { posix } from "node:path";
import { z } from "zod";

/** The configurations for clients that a README shows: `"command": …, "args": […]`, in either order. */
const configurations =
  /"command"\s*:\s*"([^"\n]{1,300})"\s*,\s*"args"\s*:\s*(\[(?:"[^"\n]{0,300}"|[\s,]){0,100}\])|"args"\s*:\s*(\[(?:"[^"\n]{0,300}"|[\s,]){0,100}\])\s*,\s*"command"\s*:\s*"([^"\n]{1,300})"/g;

/** A subcommand, and that it shall speak over stdio: nothing that a user would have to choose, such as a path or a key. */
const plainWords = /^(?!$)([a-z][a-z-]{0,30})?( ?(--stdio|(--transport|-t)[ =]stdio))?$/;

/**
 * The words with which a README starts a program, such as `serve`; empty where it names none, or others than such plain
 * ones. `names`: those of the program and its package. Pure.
 */
export function readmeArguments(readme: string, names: readonly string[]): readonly string[] {
  const wanted = new Set(names.map(plain));
  for (const [, before, args, argsFirst, after] of readme.matchAll(configurations)) {
    const words = [before ?? after ?? "", ...listed(args ?? argsFirst ?? "")];
    const at = words.findLastIndex((word) => wanted.has(plain(nameIn(word))));
    const rest = at === -1 ? [] : words.slice(at + 1);
    if (plainWords.test(rest.join(" "))) return rest;
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

/** `shop-mcp` of `/usr/bin/shop-mcp` or of `shop-mcp[cli]@latest`. */
const nameIn = (word: string) => posix.basename(word).split(/[[@=<>~!]/)[0] ?? "";

const plain = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-");
