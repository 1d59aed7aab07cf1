import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { didYouMean } from "../terminal/did-you-mean.ts";
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
 * Parses the arguments of a command by the table. With `--json`, texts go to stderr.
 *
 * @throws UsageError naming the problem
 */
export function parse<Name extends CommandName>(name: Name, args: readonly string[]): Parsed<Name> {
  const { values, positionals, tokens } = parseOptions(name, args);
  for (const token of tokens) if (token.kind === "option") assertHasOpposite(name, token);
  printJsonOnly("json" in values && values.json === true);
  const shape = specs[name]?.arguments ?? "";
  const names = shape.split(" ").filter((word) => word !== "" && word !== "…]" && word !== "…");
  const required = names.filter((name) => !name.startsWith("["));
  const isOpen = shape.endsWith("…]");
  if (positionals.length < required.length || (!isOpen && positionals.length > names.length)) {
    throw new UsageError(`Usage: towpath ${name} ${shape}. See towpath help ${name}.`.replace(" .", "."));
  }
  return { values: values as unknown as Parsed<Name>["values"], positionals };
}

function parseOptions(name: CommandName, args: readonly string[]) {
  const { options } = commands[name];
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      // --no-keep-data
      allowNegative: true,
      tokens: true,
      options: options as unknown as ParseArgsOptionsConfig,
    });
  } catch (error) {
    if (!(error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")))
      throw error;
    // Node adds advice for developers after the first sentence.
    const [sentence = error.message] = error.message.split(". ");
    const known = Object.keys(options).map((option) => `--${option}`);
    const unknown = error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" ? (/'(--[^'=]+)/.exec(sentence)?.[1] ?? "") : "";
    const removed = specs[name]?.removed?.[unknown.slice("--".length)];
    if (removed !== undefined) throw new UsageError(`${unknown} was removed: ${removed}`);
    const instead = didYouMean(unknown, known);
    throw new UsageError(`${sentence.replace(/\.$/, "")}.${instead} See towpath help ${name}.`);
  }
}

/** An opposite that means nothing would be ignored: whoever writes `--no-public` believes that the server is private. */
function assertHasOpposite(
  command: CommandName,
  { name, rawName }: { readonly name: string; readonly rawName: string },
) {
  if (rawName !== `--no-${name}` || specs[command]?.options[name]?.hasOpposite) return;
  throw new UsageError(`There is no ${rawName}, only --${name}. See towpath help ${command}.`);
}
