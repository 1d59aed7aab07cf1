import { TowpathError } from "@towpath/core/errors";
import { gitText } from "./run-git.ts";
import type { Scratch } from "./scratch.ts";

/** Older versions ignore `http.curloptResolve` and would resolve names themselves. */
const oldest = [2, 37] as const;

let isChecked = false;

/** @throws TowpathError `not_configured` for a git that can't be held to checked addresses */
export async function requirePinning(scratch: Scratch): Promise<void> {
  if (isChecked) return;
  const text = await gitText(["version"], { scratch });
  const problem = versionProblem(text);
  if (problem !== null) throw new TowpathError("not_configured", problem);
  isChecked = true;
}

export function versionProblem(text: string): string | null {
  const [, major = "0", minor = "0"] = /^git version (\d{1,3})\.(\d{1,3})/.exec(text) ?? [];
  const isNew = Number(major) > oldest[0] || (Number(major) === oldest[0] && Number(minor) >= oldest[1]);
  return isNew
    ? null
    : `Git ${oldest.join(".")} or newer is needed to read Git URLs; this host has ${major}.${minor}. Ask the operator to update it.`;
}
