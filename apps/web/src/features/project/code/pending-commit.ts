import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

/** What a person wants to commit, and where. */
export type PendingCommit = {
  readonly message: string;
  readonly target: "branch" | "new";
  readonly newBranch: string;
  readonly pullRequest: boolean;
};

/** `userId`: somebody else may sign in on the same tab. */
export type PendingAt = { readonly userId: string; readonly project: ProjectKey; readonly branch: string };

const keyOf = ({ userId, project: { orgSlug, projectName }, branch }: PendingAt) =>
  `towpath:commit:${userId}:${orgSlug}/${projectName}:${branch}`;

/** Keeps it in the tab, over a visit of GitHub. */
export function keepPendingCommit(at: PendingAt, pending: PendingCommit): void {
  try {
    sessionStorage.setItem(keyOf(at), JSON.stringify(pending));
  } catch {
    // Without storage the person enters it again.
  }
}

/** What was kept, once; null: nothing. */
export function takePendingCommit(at: PendingAt): PendingCommit | null {
  try {
    const key = keyOf(at);
    const found = JSON.parse(sessionStorage.getItem(key) ?? "null") as PendingCommit | null;
    sessionStorage.removeItem(key);
    return typeof found?.message === "string" ? found : null;
  } catch {
    return null;
  }
}

/** A name for a branch with a change: of the change, and one that no branch has. */
export function branchNameFor(message: string, branches: readonly string[]): string {
  const words = (message.split("\n", 1)[0] ?? "").toLowerCase().split(/[^a-z0-9]+/);
  const name = words.filter(Boolean).join("-").slice(0, 40) || "change";
  for (let count = 1; ; count++) {
    const found = count === 1 ? name : `${name}-${count}`;
    if (!branches.includes(found)) return found;
  }
}
