import { secretEnvironments, secretKeyNameSchema } from "@towpath/core/projects/secret/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { readInput } from "../terminal/input.ts";
import { CommandError, dim, output, plain, print, red, UsageError } from "../terminal/terminal.ts";
import { projectPath } from "./list.ts";

const variableSchema = z.object({
  keyName: z.string(),
  description: z.string().nullable(),
  sensitive: z.boolean(),
  perCaller: z.boolean().default(false),
  environments: z.array(z.string()),
});
type Variable = z.infer<typeof variableSchema>;
const variablesSchema = z.object({ data: z.array(variableSchema) });

/** What a server asks each caller for, and which of it this person has set. */
const ownValuesSchema = z.looseObject({
  /** Absent in earlier instances. */
  isChecked: z.boolean().default(false),
  values: z.array(z.object({ keyName: z.string(), description: z.string().nullable(), setAt: z.string().nullable() })),
});

/** A variable to set. */
export type Assignment = { readonly keyName: string; readonly secretValue: string };

const listVariables = async (api: Api, name: string) =>
  (await api.call("GET", `${projectPath(name)}/secrets`, variablesSchema)).data;

const checkSchema = z.object({ outcome: z.string(), answer: z.string().nullable() });

const actions = ["list", "set", "remove", "check"];

/** `towpath env NAME [list | set KEY=VALUE … | remove KEY …] [--mine]`, `towpath env NAME check --mine` */
export async function env(args: string[]): Promise<number> {
  const { values, positionals } = parse("env", args);
  const [name = "", action = "list", ...variables] = positionals;
  if (!actions.includes(action))
    throw new UsageError(`${action} is not list, set, remove or check.${didYouMean(action, actions)}`);
  const takesNames = action === "set" || action === "remove";
  if (takesNames && variables.length === 0)
    throw new UsageError(`Name what to ${action}: towpath env NAME ${action} KEY`);
  if (!takesNames && variables.length > 0)
    throw new UsageError(`${action} takes no names: ${variables.join(", ")}. See towpath help env.`);
  if (action === "check" && !values.mine)
    throw new UsageError("check is for values of yours: towpath env NAME check --mine");
  const settings = settingsOf(values);
  const [setting] = Object.keys(settings);
  if (setting !== undefined && (action !== "set" || values.mine))
    throw new UsageError(`--${setting} is for set only${values.mine ? ", and not for values of yours" : ""}.`);
  const wrong = values.environment?.find((each) => !secretEnvironments.some((known) => known === each));
  if (wrong !== undefined) throw new UsageError(`--environment must be production or preview, not ${wrong}.`);
  const assigned = action === "set" ? await assignments(variables) : [];
  const api = await connectApi(values);
  if (values.mine) return await ownValues(api, name, { action, assigned, removed: variables });
  if (action === "set") {
    await setVariables(api, name, assigned, {
      ...(values.sensitive && { sensitive: true }),
      ...(values["per-caller"] !== undefined && { perCaller: values["per-caller"] }),
      ...(values.environment && { environments: values.environment }),
    });
  }
  if (action === "remove") await removeVariables(api, name, variables);
  printVariables(await listVariables(api, name), action);
  return 0;
}

/** Options of `set`, as they were given. */
const settingsOf = ({ sensitive, environment, "per-caller": perCaller }: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries({ sensitive, environment, "per-caller": perCaller }).filter(([, given]) => given !== undefined),
  );

type OwnChange = {
  readonly action: string;
  readonly assigned: readonly Assignment[];
  readonly removed: readonly string[];
};

/** The person's own values of variables that are per caller (CAP-1). */
async function ownValues(api: Api, name: string, { action, assigned, removed }: OwnChange): Promise<number> {
  const path = `${projectPath(name)}/my-values`;
  if (action === "set") {
    const values = assigned.map(({ keyName, secretValue: value }) => ({ keyName, value }));
    await api.call("PATCH", path, ownValuesSchema, { body: { values } });
  }
  if (action === "remove")
    for (const key of removed) await api.call("DELETE", `${path}/${encodeURIComponent(key)}`, ownValuesSchema);
  if (action === "check") return await checkOwnValues(api, path);
  const { values, isChecked } = await api.call("GET", path, ownValuesSchema);
  output(values, () => {
    if (values.length === 0) print("The server asks its callers for no values.");
    const width = Math.max(0, ...values.map(({ keyName }) => keyName.length));
    for (const { keyName, description, setAt } of values) {
      const details = [setAt === null ? "not set" : `set ${setAt.slice(0, 10)}`, description ?? ""].filter(Boolean);
      print(`${keyName.padEnd(width)}  ${dim(details.join(" · "))}`);
    }
    if (action !== "list") print(dim("Your next call uses it."));
  });
  const isComplete = values.every(({ setAt }) => setAt !== null);
  return action === "set" && isChecked && isComplete ? await checkOwnValues(api, path) : 0;
}

/** Exit status 1 unless the server accepts the person's values. */
async function checkOwnValues(api: Api, path: string): Promise<number> {
  const check = await api.call("POST", `${path}/check`, checkSchema);
  const { outcome, answer } = check;
  output(check, () => {
    if (outcome === "accepted") return print("The server accepts them.");
    const what = outcome === "refused" ? "The server does not accept them" : "They could not be checked";
    print(red(`${what}: ${plain(answer ?? "it does not say why")}`));
  });
  return outcome === "accepted" ? 0 : 1;
}

/** @throws CommandError naming unknown ones, before any is removed */
async function removeVariables(api: Api, name: string, keys: readonly string[]): Promise<void> {
  const known = (await listVariables(api, name)).map(({ keyName }) => keyName);
  const missing = keys.filter((key) => !known.includes(key));
  if (missing.length > 0)
    throw new CommandError(
      `No variable named ${missing.join(" or ")}.${didYouMean(missing[0] ?? "", known)} Nothing was removed.`,
    );
  for (const key of keys) {
    await api.call("DELETE", `${projectPath(name)}/secrets/${encodeURIComponent(key)}`, z.looseObject({}));
  }
}

/** `KEY=VALUE`, or one `KEY` whose value comes on stdin, where no process list shows it. */
async function assignments(texts: readonly string[]): Promise<readonly Assignment[]> {
  const alone = texts.filter((text) => !text.includes("="));
  if (alone.length > 1)
    throw new UsageError(
      `${alone.join(" and ")} have no value. Stdin can bring only one: pass the others as KEY=VALUE.`,
    );
  if (alone.length === 1 && process.stdin.isTTY)
    throw new UsageError(`Pass the value of ${alone[0]} on stdin, or ${alone[0]}=VALUE.`);
  // A line break at the end is the file's, not the value's.
  const given = alone.length === 1 ? (await readInput()).replace(/\r?\n$/, "") : "";
  if (alone.length === 1 && given === "")
    throw new UsageError(`${alone[0]} has no value: pass it on stdin, or as ${alone[0]}=VALUE. Nothing was set.`);
  return texts.map((text) => assignment(text, () => given));
}

/** @throws CommandError for an invalid name, before any is set */
function assignment(text: string, valueFor: (keyName: string) => string): Assignment {
  const [keyName = ""] = text.split("=", 1);
  const problem = secretKeyNameSchema.safeParse(keyName).error?.issues[0]?.message;
  if (problem !== undefined) throw new UsageError(`${keyName || text}: ${problem}`);
  return { keyName, secretValue: text === keyName ? valueFor(keyName) : text.slice(keyName.length + 1) };
}

/** Creates or changes variables, all or none. Changed ones keep settings that aren't given. */
export async function setVariables(
  api: Api,
  name: string,
  assigned: readonly Assignment[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const secrets = assigned.map((each) => ({ ...settings, ...each }));
  await api.call("PATCH", `${projectPath(name)}/secrets`, variablesSchema, { body: { secrets } });
}

/**
 * Values of `deploy --env`: KEY=VALUE, or KEY to copy it from this environment. @throws CommandError if it isn't set
 */
export function environmentAssignments(texts: readonly string[]): readonly Assignment[] {
  return texts.map((text) =>
    assignment(text, (keyName) => {
      const found = process.env[keyName];
      if (found !== undefined) return found;
      throw new UsageError(`--env ${keyName}: there is no such variable in the environment.`);
    }),
  );
}

function printVariables(variables: readonly Variable[], action: string): void {
  output(variables, () => {
    if (variables.length === 0) print("No variables.");
    const width = Math.max(0, ...variables.map(({ keyName }) => keyName.length));
    for (const { keyName, sensitive, perCaller, environments, description } of variables) {
      const details = [
        sensitive ? "sensitive" : "",
        perCaller ? "per caller" : "",
        environments.join(", "),
        description ?? "",
      ].filter(Boolean);
      print(`${keyName.padEnd(width)}  ${dim(details.join(" · "))}`);
    }
    if (action !== "list") print(dim("Takes effect with the next deployment."));
  });
}
