import type { Commit } from "../project/project.schema.ts";

/** Who reads a repository behind a Git URL. Held only by the process that fetches, never by a build (SRC-2). */
export type GitCredential =
  /** `username`: what the host wants beside a token; hosts that want none take any. */
  | { readonly kind: "token"; readonly username: string; readonly token: string }
  /** A private key in OpenSSH's format. */
  | { readonly kind: "deployKey"; readonly privateKey: string };

export type GitRemote = {
  /** `https://…`, `ssh://…` or, in networks that the operator names, `http://…`; without user and password. */
  readonly url: string;
  readonly credential: GitCredential | null;
};

export type GitHeads = {
  /** What HEAD names; null for an empty repository. */
  readonly defaultBranch: string | null;
  /** Head of each branch, by name. */
  readonly branches: ReadonlyMap<string, string>;
};

export type GitRefs = GitHeads & {
  /** Where the repository is: another URL than the given one when the host redirects. */
  readonly url: string;
};

/** `branch`: its head, for hosts that serve no other commit than heads of branches. */
export type GitCommitRef = { readonly branch: string; readonly sha: string };

/** What a commit lacks here, in words for the build's log. */
export type SourceWarning = { readonly title: string; readonly detail: string };

/** A commit's files, fetched; `close` removes them. */
export type GitCheckout = {
  readonly commit: Commit;
  /** Of regular files, from the root, with forward slashes. */
  readonly paths: readonly string[];
  /** Null for what is no regular file, and above 1 MB. */
  read(path: string): Promise<string | null>;
  close(): Promise<void>;
};

/** `detail` of a `not_found` that a token or deploy key may cure: hosts show a private repository to nobody else. */
export const mayNeedSignIn = "may_need_sign_in";

/** `detail` of the error for a host whose name leads nowhere: most often the URL is mistyped. */
export const unknownHost = "unknown_host";

/**
 * Reads repositories behind Git URLs. Every call throws TowpathError with a public text that says what happened and what
 * to do: `not_found` (no repository there, or it needs a sign-in), `conflict` (the credential is refused or has expired),
 * `invalid_input` (an address that isn't allowed, too large), `upstream_unavailable`; or the signal's reason.
 */
export type GitRemotes = {
  refs(remote: GitRemote, signal?: AbortSignal): Promise<GitRefs>;
  /** @throws TowpathError `not_found` for a commit that the host no longer has, as after a rewritten history */
  commit(remote: GitRemote, at: GitCommitRef, signal?: AbortSignal): Promise<Commit>;
  /** With all files, for looking into them. */
  checkout(remote: GitRemote, at: GitCommitRef, signal?: AbortSignal): Promise<GitCheckout>;
  /** Paths that differ between two commits; null when one of them can't be had. */
  changedPaths(
    remote: GitRemote,
    since: string,
    at: GitCommitRef,
    signal?: AbortSignal,
  ): Promise<readonly string[] | null>;
  /**
   * A gzipped tar with one top-level directory, submodules included. `warn`: a submodule or LFS file that could not be
   * fetched.
   */
  tarball(
    remote: GitRemote,
    at: GitCommitRef,
    options: { readonly warn: (warning: SourceWarning) => void; readonly signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>>;
};

type Bound<Call> = Call extends (remote: GitRemote, ...rest: infer Rest) => infer Result
  ? (...rest: Rest) => Result
  : never;

/** The calls of `GitRemotes` for one repository, behind a URL or of this instance; they throw alike. */
export type GitReader = {
  /** `url`: as in `GitRefs`; null for a repository of this instance. */
  refs(signal?: AbortSignal): Promise<GitHeads & { readonly url: string | null }>;
} & { readonly [Name in Exclude<keyof GitRemotes, "refs">]: Bound<GitRemotes[Name]> };

/** A new commit of a repository of this instance. */
export type CommitFiles = {
  readonly branch: string;
  /**
   * A zip, tar or gzipped tar with all files of the commit: what else the branch had isn't in it. A directory that holds
   * everything else is left out, as archives of repositories have one.
   */
  readonly archive: ReadableStream<Uint8Array>;
  readonly author: { readonly name: string; readonly email: string };
  readonly message: string;
  /** Head that the branch must have; null: the branch must not exist. Absent: any. */
  readonly expectedHead?: string | null;
};

/**
 * Stores repositories of this instance (SRC-3), by their ids. A repository whose directory was lost reads as an empty one.
 * Calls throw TowpathError with a public text.
 */
export type InstanceRepositories = {
  /** Does nothing if it exists. */
  create(id: string, defaultBranch: string): Promise<void>;
  /** Does nothing if it doesn't exist. */
  remove(id: string): Promise<void>;
  /** Reads it from the disk, without connection or credential. */
  open(id: string): GitReader;
  /** Has HEAD name a branch, which need not exist. */
  setDefaultBranch(id: string, branch: string): Promise<void>;
  /**
   * Commits an archive's files on top of the branch's head, but for those that `leftOut` names (`left-out.schema.ts`).
   * Without a change there is no commit: `changed` is false, and the commit is the head.
   *
   * @throws TowpathError `invalid_input` for what isn't an archive, is too large, or has names or links that a repository
   * can't have; `conflict` for another head than the expected one; `out_of_storage`
   */
  commitFiles(
    id: string,
    files: CommitFiles,
    signal?: AbortSignal,
  ): Promise<{ readonly commit: Commit; readonly changed: boolean; readonly leftOut: readonly string[] }>;
  /** Full names of branches and tags, and what they name. */
  listRefs(id: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Pushes all branches and tags with their history to another host, which the operator has named; overwrites nothing there.
   *
   * @throws TowpathError `conflict` for what the host refuses, with its words; `upstream_unavailable`. What arrived stays
   * there, and a push again sends the rest.
   */
  push(id: string, remote: GitRemote): Promise<void>;
};
