/**
 * Where bare repositories are stored, by the ids of repositories of this instance. Implementations: a directory that all
 * processes share, and bundles in the artifact store, for several machines. Each passes `repositoryStorageContract`.
 */
export type RepositoryStorage = {
  /** Makes an empty repository unless it exists. */
  create(id: string, defaultBranch: string): Promise<void>;
  /**
   * Absolute path of a bare repository with everything stored before this call; null: it doesn't exist. Read-only; it
   * stays for some hours.
   *
   * @throws TowpathError `upstream_unavailable` if its commits are known to be elsewhere, `internal` if it is damaged
   */
  read(id: string): Promise<string | null>;
  /**
   * Begins a change; makes the repository if need be. Several changes, here and on other machines, can be under way.
   *
   * @throws TowpathError `not_found` for a repository that was deleted
   */
  change(id: string, defaultBranch: string): Promise<RepositoryChange>;
  /** Does nothing if it doesn't exist. */
  remove(id: string): Promise<void>;
  /** Ids of all. */
  list(): Promise<readonly string[]>;
  /** See `Repositories`. */
  sweep(known: ReadonlySet<string>, unchangedSince: Date): Promise<number>;
  /** Makes it smaller and quicker to read if it has become worth it. `looseObjects`: when that is, in a directory. */
  pack(id: string, looseObjects?: number): Promise<void>;
  /**
   * Stores refs, objects and HEAD of a bare repository elsewhere. Resolves to false if another state is stored already.
   *
   * @throws TowpathError `not_found` where repositories need a row in the database and it has none
   */
  adopt(id: string, from: string): Promise<boolean>;
};

export type RepositoryChange = {
  /** Absolute path of a bare repository, to change with git. */
  readonly directory: string;
  /**
   * Stores the changed refs and HEAD durably, once. Don't confirm the change to anybody before this resolves.
   *
   * @throws TowpathError `conflict` if one of these refs was changed by somebody else meanwhile; then nothing is stored
   */
  store(): Promise<void>;
  /** Must be called, also after a failure. */
  close(): Promise<void>;
};
