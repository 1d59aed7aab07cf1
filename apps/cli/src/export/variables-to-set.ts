import type { ExportDocument } from "@towpath/core/delivery/export/schema";
import type { Assignment } from "../servers/env.ts";
import { ask } from "../terminal/input.ts";
import { dim, print, UsageError } from "../terminal/terminal.ts";

type Variable = ExportDocument["variables"][number];

/** A variable with its value and what it had in addition. */
export type VariableToSet = Variable & Assignment;

/**
 * The export's variables with their values, and further ones that were passed. Values that nothing brings are asked for on
 * a terminal, where an empty answer leaves a variable out; those of previews only are left out.
 *
 * @throws UsageError naming the missing ones, where nobody can be asked
 */
export async function variablesToSet(
  variables: readonly Variable[],
  stored: Readonly<Record<string, string>>,
  passed: readonly Assignment[],
): Promise<readonly VariableToSet[]> {
  const values = new Map([
    ...Object.entries(stored),
    ...passed.map((each) => [each.keyName, each.secretValue] as const),
  ]);
  const missing = variables.filter(
    ({ keyName, environments }) => !values.has(keyName) && environments.includes("production"),
  );
  if (missing.length > 0 && !process.stdin.isTTY) {
    const options = missing.map(({ keyName }) => `--env ${keyName}=…`).join(" ");
    throw new UsageError(`The export has no values of these variables: pass ${options}. Nothing was made.`);
  }
  for (const { keyName } of missing) {
    const value = await ask(`${keyName} (Enter leaves it out): `, { hidden: true });
    if (value !== "") values.set(keyName, value);
  }
  const known = variables.flatMap((each) => withValue(each, values.get(each.keyName)));
  const leftOut = variables.filter(({ keyName }) => !values.has(keyName)).map(({ keyName }) => keyName);
  if (leftOut.length > 0) print(dim(`Without ${leftOut.join(", ")}: set with towpath env NAME set KEY=VALUE.`));
  const more = passed.filter(({ keyName }) => variables.every((each) => each.keyName !== keyName));
  return [...known, ...more.map((each) => ({ ...newVariable, ...each }))];
}

const newVariable = {
  description: null,
  sensitive: true,
  perCaller: false,
  environments: ["production", "preview"],
} satisfies Omit<Variable, "keyName">;

const withValue = (variable: Variable, secretValue: string | undefined): readonly VariableToSet[] =>
  secretValue === undefined ? [] : [{ ...variable, secretValue }];
