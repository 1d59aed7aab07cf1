import type { Facts } from "./facts.ts";

/** What a check found out about one thing. `remedy`: the command or setting that fixes it. */
export type Finding =
  | { readonly name: string; readonly state: "ok" | "not-needed"; readonly detail: string }
  | { readonly name: string; readonly state: "fix"; readonly detail: string; readonly remedy: string };

/** Looks at one thing and changes nothing. What it throws is a finding, too. */
export type Check = (facts: Facts) => Promise<readonly Finding[]>;

export const ok = (name: string, detail: string): Finding => ({ name, state: "ok", detail });
export const notNeeded = (name: string, detail: string): Finding => ({ name, state: "not-needed", detail });
export const fix = (name: string, detail: string, remedy: string): Finding => ({
  name,
  state: "fix",
  detail,
  remedy,
});

/** For a text whose first sentence is the problem and the others are what to do. `otherwise`: for one sentence alone. */
export function fixAs(name: string, text: string, otherwise: string): Finding {
  const end = text.indexOf(". ");
  return end < 0 ? fix(name, text, otherwise) : fix(name, text.slice(0, end), text.slice(end + 2));
}

type Parsed = {
  readonly error?: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] };
};

/** Settings that a process would refuse at its start. */
export function invalidSettings(name: string, { error }: Parsed): Finding {
  const problems = (error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`);
  return fix(name, problems.join("; "), changeSettings);
}

export const changeSettings = "Change the setting: see docs/configuration.md.";

/** In one line, with its cause, which has what Node's fetch says nothing of. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? reasonOf(error.cause) : "";
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  const own = (error.message || code).replaceAll(/\s+/g, " ");
  return cause === "" || own.includes(cause) ? own : `${own}: ${cause}`;
}
