import { bold, dim } from "../terminal/terminal.ts";
import type { OptionSpec } from "./command-spec.ts";
import { specs } from "./table.ts";

const exitCodes =
  "Exit codes: 0 done, 1 refused or failed, 2 wrong use, 130 ended by Ctrl-C, 141 ended because nobody read its output.";

const width = 34;

const optionText = (name: string, { value, multiple }: OptionSpec) =>
  `--${name}${value === undefined ? "" : ` ${value}`}${multiple ? " …" : ""}`;

const row = (left: string, right: string) =>
  left.length < width ? `  ${left.padEnd(width)}${right}` : `  ${left}\n  ${" ".repeat(width)}${right}`;

/** All commands, one per line. */
export function overview(): string {
  const lines = Object.entries(specs).map(([name, { text, ...spec }]) => {
    const [sentence = text] = text.split(/(?<=\.) /);
    return row(`${name} ${spec.arguments}`, sentence);
  });
  return `Towpath: from a Python MCP server in a Git repository to a live endpoint.

${bold("towpath COMMAND")}: works with the instance that you are logged in to, else with the one on this machine.

${lines.join("\n")}

\`towpath help COMMAND\` shows its options and examples; \`--verbose\` shows where an unexpected error happened. ${exitCodes}
`;
}

/** One command with its options and examples; null for an unknown name. */
export function helpOf(name: string): string | null {
  const spec = specs[name];
  if (!spec) return null;
  const options = Object.entries(spec.options).map(([option, each]) => row(optionText(option, each), each.text));
  const examples = spec.examples.map((example) => `  towpath ${example}`);
  return [
    `${bold(`towpath ${name}`)} ${spec.arguments}\n\n${spec.text}`,
    ...(options.length > 0 ? [`${dim("Options")}\n${options.join("\n")}`] : []),
    `${dim("Examples")}\n${examples.join("\n")}`,
    `${exitCodes}\n`,
  ].join("\n\n");
}
