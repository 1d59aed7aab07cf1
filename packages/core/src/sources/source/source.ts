import type { project } from "@towpath/db/schema";

type ProjectRow = typeof project.$inferSelect;

/** Where a project's code comes from (SRC-1). */
export type Source =
  | {
      readonly kind: "github";
      /** Null: the installation was disconnected. */
      readonly installationId: number | null;
      readonly repositoryId: number;
      /** owner/name */
      readonly fullName: string;
      readonly isPrivate: boolean;
      /** The branch that goes live as the owner named it; null: the repository's default branch. */
      readonly branch: string | null;
    }
  /** A Git URL or a repository of this instance: see `git_source`. */
  | { readonly kind: "git" }
  /** A package of the index. `follows`: newer versions are built by themselves. */
  | { readonly kind: "package"; readonly name: string; readonly follows: boolean };

type SourceColumns = Pick<
  ProjectRow,
  | "kind"
  | "installationId"
  | "repositoryId"
  | "repositoryFullName"
  | "repositoryPrivate"
  | "githubBranch"
  | "packageName"
  | "followsPackage"
>;

/** The only place that reads it from a project's columns. Null for a project that is not built here. */
export function sourceOf(row: SourceColumns): Source | null {
  if (row.kind !== "hosted") return null;
  if (row.packageName !== null) return { kind: "package", name: row.packageName, follows: row.followsPackage };
  if (row.repositoryId === null || row.repositoryFullName === null) return { kind: "git" };
  return {
    kind: "github",
    installationId: row.installationId,
    repositoryId: row.repositoryId,
    fullName: row.repositoryFullName,
    isPrivate: row.repositoryPrivate,
    branch: row.githubBranch,
  };
}

/** Columns of a project that name another source than `git_source` does, without one. */
export const noOtherSource = {
  installationId: null,
  repositoryId: null,
  repositoryFullName: null,
  repositoryPrivate: false,
  githubBranch: null,
  packageName: null,
  followsPackage: false,
} as const;

/** GitHub's repository as views show it; null for a project with another source. */
export function gitHubRepositoryView(row: SourceColumns & Pick<ProjectRow, "defaultBranch">) {
  const source = sourceOf(row);
  if (source?.kind !== "github") return null;
  return {
    id: source.repositoryId,
    name: source.fullName.split("/").at(-1) ?? source.fullName,
    fullName: source.fullName,
    defaultBranch: row.defaultBranch,
    private: source.isPrivate,
    installationId: source.installationId,
  };
}
