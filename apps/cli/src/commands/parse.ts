import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { printJsonOnly, UsageError } from "../terminal/terminal.ts";
import { type CommandName, commands, specs } from "./table.ts";

type Options<Name extends CommandName> = (typeof commands)[Name]["options"];
type Value<Option> = Option extends { readonly type: "boolean" }
  ? boolean | undefined
  : Option extends { readonly multiple: true }
    ? readonly string[] | undefined
    : string | undefined;

type Parsed<Name extends CommandName> = {
  readonly values: { readonly [Option in keyof Options<Name>]: Value<Options<Name>[Option]> };
  readonly positionals: readonly string[];
};

/**
 * Reads the arguments of a command as the table has them. Sends texts to stderr with `--json`.
 *
 * @throws UsageError naming what is missing or too much
 */
export function parse<Name extends CommandName>(name: Name, args: readonly string[]): Parsed<Name> {
  const { options } = commands[name];
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    // --no-keep-data
    allowNegative: true,
    options: options as unknown as ParseArgsOptionsConfig,
  });
  printJsonOnly("json" in values && values.json === true);
  const shape = specs[name]?.arguments ?? "";
  const words = shape.split(" ").filter((word) => word !== "" && word !== "…]" && word !== "…");
  const required = words.filter((word) => !word.startsWith("["));
  const isOpen = shape.endsWith("…]");
  if (positionals.length < required.length || (!isOpen && positionals.length > words.length)) {
    throw new UsageError(`Usage: towpath ${name} ${shape}. See towpath help ${name}.`.replace(" .", "."));
  }
  return { values: values as unknown as Parsed<Name>["values"], positionals };
}
