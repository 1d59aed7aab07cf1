import { print, UsageError } from "../terminal/terminal.ts";
import type { CommandSpec, OptionSpec } from "./command-spec.ts";
import { parse } from "./parse.ts";
import { type commands, specs } from "./table.ts";

type Named = readonly [name: string, spec: CommandSpec];

const all: readonly Named[] = Object.entries(specs);
const names = all.map(([name]) => name).join(" ");
const firstSentence = ({ text }: CommandSpec) => text.split(/(?<=\.) /)[0] ?? "";
const optionsOf = ({ options }: CommandSpec) => Object.entries(options);

type Choices = NonNullable<OptionSpec["choices"]>;
/** Places are counted from 1. Every command's name is an argument of `help`. */
const choicesOf = ([name, { choices = {} }]: Named): readonly (readonly [place: number, choices: Choices])[] =>
  name === "help" ? [[1, names.split(" ")]] : Object.entries(choices).map(([place, each]) => [Number(place), each]);

const quoted = (text: string) => text.replaceAll("'", "'\\''");

/** Completes by position: the command, then its arguments; options anywhere, whose values count as positions. */
function bash(): string {
  const words = (choices: Choices) => (choices === "files" ? "" : choices.join(" "));
  const values = all.flatMap(([name, spec]) =>
    optionsOf(spec).flatMap(([option, { value, choices }]) =>
      value === undefined ? [] : [`    '${name} --${option}') words='${words(choices ?? "files")}' ;;`],
    ),
  );
  const places = all.flatMap((each) =>
    choicesOf(each).map(([place, choices]) => `    '${each[0]} ${place + 1}') words='${words(choices)}' ;;`),
  );
  const options = all.map(
    ([name, spec]) =>
      `    ${name}) words='${[...optionsOf(spec).map(([each]) => `--${each}`), "--help"].join(" ")}' ;;`,
  );
  return `_towpath() {
  local words='' current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then words='${names}'
  elif [[ $current == -* ]]; then case "$command" in
${options.join("\n")}
  esac
  else case "$command \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("\n")}
    *) case "$command $COMP_CWORD" in
${places.join("\n")}
    esac ;;
  esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _towpath towpath ./towpath`;
}

const zshText = (text: string) => quoted(text.replaceAll(/[[\]:\\]/g, "\\$&"));
const zshMessage = (text: string) => quoted(text).replaceAll(":", "\\:");
/** ` `: no candidates, only a description. */
const zshAction = (choices: Choices | undefined) =>
  choices === undefined ? " " : choices === "files" ? "_files" : `(${choices.join(" ")})`;

function zsh(): string {
  const lines = all.map(([name, spec]) => `    '${name}:${quoted(firstSentence(spec)).replaceAll(":", "\\:")}'`);
  const cases = all.map((each) => {
    const [name, spec] = each;
    const options = optionsOf(spec).map(([option, { text, value, choices, multiple }]) => {
      const argument = value === undefined ? "" : `:${zshMessage(value)}:${zshAction(choices)}`;
      return `'${multiple ? "*" : ""}--${option}[${zshText(text)}]${argument}'`;
    });
    const places = choicesOf(each).map(([place, choices]) => `'${place}:argument:${zshAction(choices)}'`);
    // Propose nothing else, in particular no options.
    const rest = ["'--help[explains the command]'", ...places, "'*:argument: '"];
    return `    ${name}) _arguments ${[...options, ...rest].join(" ")} ;;`;
  });
  return `#compdef towpath ./towpath
_towpath() {
  local -a commands=(
${lines.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
# Loaded from $fpath, the file is the function's first call; elsewhere it is sourced.
if [[ $funcstack[1] == _towpath ]]; then _towpath "$@"; else compdef _towpath towpath ./towpath; fi`;
}

function fish(): string {
  const inCommand = (name: string) => `-n '__fish_seen_subcommand_from ${name}'`;
  const values = (choices: Choices | undefined) =>
    choices === "files" ? " -rF" : choices ? ` -xa '${choices.join(" ")}'` : " -x";
  const lines = all.flatMap((each) => {
    const [name, spec] = each;
    const options = optionsOf(spec).map(
      ([option, { text, value, choices }]) =>
        `complete -c towpath ${inCommand(name)} -l ${option}${value === undefined ? "" : values(choices)} -d '${quoted(text)}'`,
    );
    const places = choicesOf(each).map(([place, choices]) => {
      // The command, and the number of words before the completed one.
      const at = `-n '__fish_seen_subcommand_from ${name}; and test (count (commandline -opc)) -eq ${place + 1}'`;
      return `complete -c towpath ${at} ${choices === "files" ? "-F" : `-a '${choices.join(" ")}'`}`;
    });
    return [
      `complete -c towpath -n __fish_use_subcommand -a ${name} -d '${quoted(firstSentence(spec))}'`,
      ...options,
      ...places,
    ];
  });
  // No files by default.
  return ["complete -c towpath -f", ...lines].join("\n");
}

const shells: Readonly<Record<(typeof commands.completion.choices)[1][number], () => string>> = { bash, zsh, fish };

/** `towpath completion SHELL` */
export async function completion(args: string[]): Promise<number> {
  const [shell = ""] = parse("completion", args).positionals;
  const script = Object.entries(shells).find(([name]) => name === shell)?.[1];
  if (!script) throw new UsageError(`Name one of these shells: ${Object.keys(shells).join(", ")}.`);
  print(script());
  return 0;
}
