import type { RepositoryAddress } from "./repository-host.ts";
import type { GitRemote } from "./source.ts";

/**
 * How files of a repository at GitHub are read and changed through git (CAP-5). Calls throw TowpathError with a public text
 * about what GitHub rejected; `conflict` for a user's token that it refuses.
 */
export type GitHubFiles = {
  /** The credential reads this one repository, for some minutes at least. */
  reading(address: RepositoryAddress): Promise<GitRemote>;
  /** As the user whose token it is, who is the author. */
  writing(address: RepositoryAddress, userToken: string): Promise<GitHubWriting>;
  /** Opens one as the user whose token it is; returns its URL for browsers. */
  openPullRequest(address: RepositoryAddress, pull: NewPullRequest): Promise<string>;
};

type GitHubWriting = {
  readonly remote: GitRemote;
  /** With GitHub's own address for people who keep theirs private. */
  readonly author: { readonly name: string; readonly email: string };
};

export type NewPullRequest = {
  /** The branch with the commits, and the one that is to get them. */
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly userToken: string;
};
