import { TowpathError } from "@towpath/core/errors";
import { GitFailure, runGit } from "../run-git.ts";
import { gitOn, runOn } from "./bare-repository.ts";

/** What a ref names, by its full name; null: there is none. */
export async function headOf(directory: string, ref: string): Promise<string | null> {
  const text = await gitOn(directory, ["for-each-ref", "--format=%(objectname) %(refname)", ref]);
  const line = text.split("\n").find((each) => each.endsWith(` ${ref}`));
  return line === undefined ? null : line.slice(0, line.indexOf(" "));
}

/** Moves the branch if it still has the commit's parent: somebody may have pushed meanwhile. */
export async function moveBranch(
  directory: string,
  to: { readonly branch: string; readonly name: string; readonly before: string | null; readonly made: string },
): Promise<void> {
  const none = "0".repeat(to.made.length);
  try {
    await runGit(["update-ref", to.branch, to.made, to.before ?? none], runOn(directory));
  } catch (error) {
    if (!(error instanceof GitFailure) || error.reason !== "failed") throw error;
    if (/; cannot create/.test(error.stderr)) {
      const message = `The branch ${to.name} can't be made: another branch's name is a part of its name, or the reverse.`;
      throw new TowpathError("conflict", message);
    }
    throw movedOn(to.name, await headOf(directory, to.branch));
  }
}

/** `head`: null if the branch is gone; absent if it isn't known. */
export function movedOn(branch: string, head?: string | null): TowpathError {
  if (head === null)
    return new TowpathError("conflict", `The branch ${branch} was deleted meanwhile. Try again to create it.`);
  const upTo = head === undefined ? "" : `, up to ${head.slice(0, 7)}`;
  return new TowpathError("conflict", `The branch ${branch} has newer commits${upTo}. Nothing was changed.`);
}
