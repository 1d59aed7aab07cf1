import type { Commit } from "../projects/project/project.schema.ts";
import type { GitCheckout, GitCommitRef, GitRemote } from "./source.ts";

/**
 * A repository of this instance by its id, or one that is reached by a URL. `key`: who has opened files with the same one may
 * see them without a connection.
 */
export type EditedRepository = { readonly repositoryId: string } | { readonly key: string; readonly remote: GitRemote };

/**
 * Reads and changes files of a repository for people (CAP-5), wherever it is. Calls throw TowpathError with a public text, as
 * those of `GitReader`.
 */
export type GitFiles = {
  /** Its files are all here. They may be kept for some minutes, so that the next call needs no connection. */
  open(of: EditedRepository, at: GitCommitRef, signal?: AbortSignal): Promise<OpenedFiles>;
  /**
   * Commits to the branch, or to a new one.
   *
   * @throws TowpathError `conflict` for a branch that has another head meanwhile, for a new one that exists, and for what the
   * host refuses, with its words; `invalid_input` for a path that can't be changed, and without a change; `out_of_storage`
   */
  change(of: EditedRepository, changes: FileChanges, signal?: AbortSignal): Promise<Commit>;
};

export type OpenedFiles = Omit<GitCheckout, "has" | "read"> & {
  /** Null for what is no regular file, and above 1 MB. */
  read(path: string): Promise<Uint8Array | null>;
  /**
   * Lines that contain a text, in any case, of files up to 1 MB that aren't binary, in order of their paths; at most so many.
   */
  search(text: string, most: number): Promise<readonly FoundLine[]>;
};

export type FoundLine = {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Cut off after 200 characters. */
  readonly text: string;
};

/** `content`: the whole file, UTF-8; null: it is deleted. */
export type FileChange = { readonly path: string; readonly content: string | null };

/** A commit of some files on top of another commit. */
export type FileChanges = {
  /** A commit that its branch still must have as head. */
  readonly parent: GitCommitRef;
  /** The parent's branch, or one that doesn't exist yet. */
  readonly branch: string;
  readonly changes: readonly FileChange[];
  readonly author: { readonly name: string; readonly email: string };
  readonly message: string;
};
