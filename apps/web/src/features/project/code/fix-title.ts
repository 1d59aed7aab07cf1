import type { RepositoryChange } from "@towpath/core/delivery/build/contract";

/** What a change of the repository does, in the imperative: of a button, and of the commit. */
export function fixTitle(change: RepositoryChange): string {
  const { file } = change;
  switch (change.kind) {
    case "require":
      return `Require ${change.requirements.join(" and ")} in ${file}`;
    case "drop":
      return `Remove ${change.name} from ${file}`;
    case "python":
      return `Pin Python ${change.version}`;
    case "delete":
      return `Delete ${file}`;
  }
}
