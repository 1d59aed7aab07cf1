import { print, UsageError } from "../terminal/terminal.ts";
import { parse } from "./parse.ts";
import { specs } from "./table.ts";

const names = () => Object.keys(specs);
const optionsOf = (name: string) => Object.keys(specs[name]?.options ?? {}).map((option) => `--${option}`);

function bash(): string {
  const cases = names().map((name) => `    ${name}) words='${[...optionsOf(name), "--help"].join(" ")}' ;;`);
  return `_towpath() {
  local words='${names().join(" ")}' current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words='' ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _towpath towpath ./towpath`;
}

const quoted = (text: string) => text.replaceAll("'", "'\\''");
const zshText = (text: string) => quoted(text).replaceAll(/[[\]:]/g, "\\$&");

function zsh(): string {
  const commands = names().map((name) => `    '${name}:${zshText(specs[name]?.text.split(/(?<=\.) /)[0] ?? "")}'`);
  const cases = names().map((name) => {
    const options = Object.entries(specs[name]?.options ?? {}).map(
      ([option, { text, value }]) =>
        `'--${option}[${zshText(text)}]${value === undefined ? "" : `:${zshText(value)}:_files`}'`,
    );
    return `    ${name}) _arguments ${[...options, "'*:file:_files'"].join(" ")} ;;`;
  });
  return `#compdef towpath ./towpath
_towpath() {
  local -a commands=(
${commands.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
compdef _towpath towpath ./towpath`;
}

function fish(): string {
  return names()
    .flatMap((name) => {
      const spec = specs[name];
      const first = quoted(spec?.text.split(/(?<=\.) /)[0] ?? "");
      const options = Object.entries(spec?.options ?? {}).map(
        ([option, { text, type }]) =>
          `complete -c towpath -n '__fish_seen_subcommand_from ${name}' -l ${option}${type === "string" ? " -r" : ""} -d '${quoted(text)}'`,
      );
      return [`complete -c towpath -n __fish_use_subcommand -a ${name} -d '${first}'`, ...options];
    })
    .join("\n");
}

const shells: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** `towpath completion SHELL` */
export async function completion(args: string[]): Promise<number> {
  const { positionals } = parse("completion", args);
  const script = shells[positionals[0] ?? ""];
  if (!script) throw new UsageError(`Name one of these shells: ${Object.keys(shells).join(", ")}.`);
  print(script());
  return 0;
}
