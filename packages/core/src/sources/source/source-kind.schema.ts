/** Kinds of places from which projects are built, as views name them (SRC-1). */
type SourceKind = "github" | "git" | "repository" | "package";

type SourceFacts = {
  /**
   * How its host shows builds: by checks, deployments and comments; by states, once the owner gives a token for them; or not
   * at all.
   */
  readonly reports: "checks" | "states" | null;
  /** What to do when a build can't read it. */
  readonly remedy: string;
};

const remedy = "The repository's URL and credential are under Settings → Source. Rebuild when it can be read again.";

/** What each kind is able to do: pages and texts offer that, and no more. */
export const sourceKinds: Readonly<Record<SourceKind, SourceFacts>> = {
  github: {
    reports: "checks",
    remedy: "Check that the repository still exists and that the GitHub App can read it, then rebuild.",
  },
  git: { reports: "states", remedy },
  repository: { reports: null, remedy },
  package: { reports: null, remedy: "Rebuild in a moment." },
};
