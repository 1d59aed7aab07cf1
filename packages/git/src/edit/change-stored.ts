import { randomUUID } from "node:crypto";
import type { FileChanges } from "@towpath/core/ports";
import type { Commit } from "@towpath/core/projects/project/schema";
import { branchNameSchema } from "@towpath/core/sources/source/schema";
import { readCommit } from "../read-commit.ts";
import { gitOn, ownRefs, runOn } from "../repositories/bare-repository.ts";
import { headOf, moveBranch, movedOn } from "../repositories/branch-head.ts";
import { commitChanges } from "./change-files.ts";

/** See `InstanceRepositories.changeFiles`. */
export async function changeStored(directory: string, changes: FileChanges, signal?: AbortSignal): Promise<Commit> {
  const { branch: name, parent } = changes;
  const branch = `refs/heads/${branchNameSchema.parse(name)}`;
  const before = name === parent.branch ? parent.sha : null;
  const head = await headOf(directory, branch);
  if (head !== before) throw movedOn(name, head);
  const own = `${ownRefs}/${randomUUID()}`;
  try {
    const made = await commitChanges(changes, own, runOn(directory, { signal }));
    await moveBranch(directory, { branch, name, before, made });
    return await readCommit(made, runOn(directory));
  } finally {
    await gitOn(directory, ["update-ref", "-d", own]).catch(() => {});
  }
}
