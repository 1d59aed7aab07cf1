import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { commands } from "../commands/table.ts";
import type { Environment, Flags } from "../up/options.ts";

// A running `towpath up` shows its flags and environment to its own user and to root.

const textsOf = (pid: number, file: "cmdline" | "environ"): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0").slice(0, -1);
  } catch {
    return [];
  }
};

/** The environment that the process was started with; empty if it can't be read. */
export function environmentOf(pid: number): Environment {
  const pairs = textsOf(pid, "environ").map((text) => [text.split("=", 1)[0] ?? "", text.slice(text.indexOf("=") + 1)]);
  return Object.fromEntries(pairs);
}

/** The flags of `towpath up` that the process was started with. */
export function flagsOf(pid: number): Flags {
  const argv = textsOf(pid, "cmdline");
  const args = argv.slice(argv.findIndex((each, at) => each === "up" && /main\.ts$/.test(argv[at - 1] ?? "")) + 1);
  if (args.length === argv.length) return {};
  const { values } = parseArgs({ args, options: commands.up.options, strict: false });
  const texts = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(texts);
}
