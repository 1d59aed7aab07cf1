import { TowpathError } from "@towpath/core/errors";
import type { GitRefs } from "@towpath/core/ports";
import { branchNameSchema } from "@towpath/core/sources/source/schema";

const line = /^([0-9a-f]{40}|[0-9a-f]{64})\trefs\/heads\/(.+)$/;
const headLine = /^([0-9a-f]{40}|[0-9a-f]{64})\tHEAD$/;
const symref = /^ref: refs\/heads\/(.+)\tHEAD$/;

/** Parses `git ls-remote --symref`. Invalid branch names, which a host can send anyway, are left out. */
export function parseRefs(text: string): Pick<GitRefs, "defaultBranch" | "branches"> {
  const branches = new Map<string, string>();
  let named: string | null = null;
  let head: string | null = null;
  for (const each of text.split("\n")) {
    const [, sha, name] = line.exec(each) ?? [];
    if (sha !== undefined && name !== undefined && isBranchName(name)) branches.set(name, sha);
    head ??= headLine.exec(each)?.[1] ?? null;
    named ??= symref.exec(each)?.[1] ?? null;
  }
  return { defaultBranch: named !== null && branches.has(named) ? named : likelyDefault(branches, head), branches };
}

const isBranchName = (name: string) => {
  const parsed = branchNameSchema.safeParse(name);
  return parsed.success && parsed.data === name;
};

/** For hosts that don't report HEAD's branch, and for a HEAD without a branch. */
function likelyDefault(branches: ReadonlyMap<string, string>, head: string | null): string | null {
  const same = [...branches.keys()].filter((name) => branches.get(name) === head);
  for (const names of [same, [...branches.keys()]])
    for (const name of ["main", "master", ...names.sort()]) if (names.includes(name)) return name;
  return null;
}

const maxListBytes = 16 * 1024 * 1024;
export const refListLimit = {
  maxOutputBytes: maxListBytes,
  problem: () => new TowpathError("invalid_input", "The repository has more branches than can be listed here."),
};
