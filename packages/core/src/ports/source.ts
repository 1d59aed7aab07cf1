import type { Readable } from "node:stream";
import type { Commit } from "../projects/project/project.schema.ts";

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
  /** The environment names the host, which is then reached at any address; others only at public ones (SRC-2). */
  readonly atAnyAddress?: boolean;
};

export type GitHeads = {
  /** What HEAD names; null for an empty repository. */
  readonly defaultBranch: string | null;
  /** Head of each branch, by name. */
  readonly branches: ReadonlyMap<string, string>;
};

export type GitRefs = GitHeads & {
  /** Where the repository is: another URL than the given one when the host redirects. Null: it isn't known by a URL. */
  readonly url: string | null;
};

/** `branch`: its head, for hosts that serve no other commit than heads of branches. */
export type GitCommitRef = { readonly branch: string; readonly sha: string };

/** What a commit lacks here, in words for the build's log. */
export type SourceWarning = { readonly title: string; readonly detail: string };

/** A commit's files, fetched; `close` removes them. */
export type GitCheckout = {
  readonly commit: Commit;
  /** Of regular files, from the root, with forward slashes; of a huge repository at GitHub only those that it lists. */
  paths(): Promise<readonly string[]>;
  /** False for a directory. */
  has(path: string): Promise<boolean>;
  /** Null for what is no regular file, and above 1 MB. */
  read(path: string): Promise<string | null>;
  close(): Promise<void>;
};

/** `detail` of a `not_found` that a token or deploy key may cure: hosts show a private repository to nobody else. */
export const mayNeedSignIn = "may_need_sign_in";

/** `detail` of the error for a host whose name leads nowhere: most often the URL is mistyped. */
export const unknownHost = "unknown_host";

/**
 * Reads one repository, wherever it is: behind a Git URL, of this instance or at GitHub (SRC-1). Every call throws
 * TowpathError with a public text that says what happened and what to do: `not_found` (no repository there, or it needs a
 * sign-in), `conflict` (the credential is refused or has expired), `invalid_input` (an address that isn't allowed, too
 * large), `upstream_unavailable`; or the signal's reason.
 */
export type GitReader = {
  /** `only`: a branch, when nobody asks about others; hosts may then leave those out. */
  refs(only?: string): Promise<GitRefs>;
  /** @throws TowpathError `not_found` for a commit that the host no longer has, as after a rewritten history */
  commit(at: GitCommitRef, signal?: AbortSignal): Promise<Commit>;
  /** With all files, for looking into them. */
  checkout(at: GitCommitRef, signal?: AbortSignal): Promise<GitCheckout>;
  /** Paths that differ between two commits; null when one of them can't be had. */
  changedPaths(since: string, at: GitCommitRef, signal?: AbortSignal): Promise<readonly string[] | null>;
  /**
   * A gzipped tar with one top-level directory, submodules included. `warn`: a submodule or LFS file that could not be
   * fetched.
   */
  tarball(
    at: GitCommitRef,
    options: { readonly warn: (warning: SourceWarning) => void; readonly signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>>;
};

/** Reads repositories behind Git URLs; opening one asks nothing yet. */
export type GitRemotes = { open(remote: GitRemote): GitReader };

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

/** Bytes of a known number. Read them to the end, or destroy the stream. */
export type SizedBytes = { readonly size: number; readonly bytes: Readable };

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
  /** A git bundle of all branches and tags with their history; null for a repository without any. */
  bundle(id: string): Promise<SizedBytes | null>;
  /**
   * Pushes all branches and tags with their history to another host; overwrites nothing there.
   *
   * @throws TowpathError `conflict` for what the host refuses, with its words; `upstream_unavailable`; `invalid_input` for an
   * address that isn't allowed. What arrived stays there, and a push again sends the rest.
   */
  push(id: string, remote: GitRemote): Promise<void>;
};
