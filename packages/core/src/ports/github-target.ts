import type { GitRemote } from "./source.ts";

/** By its name, as one installation sees it. */
type Address = { readonly installationId: number; readonly owner: string; readonly name: string };

/** A repository at GitHub that continues one of this instance. */
export type TargetRepository = {
  /** Towpath's number (decision 054). */
  readonly id: number;
  /** owner/name */
  readonly fullName: string;
  readonly private: boolean;
  /** What GitHub names, also while nothing was pushed. */
  readonly defaultBranch: string;
  /** For browsers; git clones it with `.git` behind it. */
  readonly url: string;
};

export type NewTarget = {
  readonly installationId: number;
  readonly name: string;
  readonly private: boolean;
  /** Of the account's owner, which GitHub requires in a person's account; an organization's needs none. */
  readonly userToken: string | null;
};

/** `taken`: the account has one of this name. `other-user`: the token is of `login`, who isn't the account's owner. */
export type TargetMade =
  | { readonly kind: "made"; readonly repository: TargetRepository }
  | { readonly kind: "taken" }
  | { readonly kind: "other-user"; readonly login: string }
  /** The App lacks the permission, or a rule of the account forbids it. */
  | { readonly kind: "refused" };

/**
 * Makes repositories at GitHub that continue those of this instance (SRC-3). Numbers are Towpath's (decision 054). Calls
 * throw TowpathError with a public text about what GitHub rejected.
 */
export type GitHubTarget = {
  /** Whose account it is. `settingsUrl`: where its owner chooses what the App may read and do. */
  account(installationId: number): Promise<{
    readonly login: string;
    readonly isPerson: boolean;
    /** For people: "GitHub" or "GitHub at HOST". */
    readonly hostName: string;
    /** For browsers, without a trailing slash. */
    readonly hostUrl: string;
    readonly settingsUrl: string;
  }>;
  /** Null: there is none, or the installation can't read it. */
  find(of: Address | { readonly installationId: number; readonly id: number }): Promise<TargetRepository | null>;
  /** Heads of branches, by name. */
  heads(address: Address): Promise<ReadonlyMap<string, string>>;
  /** Makes an empty one. */
  make(target: NewTarget): Promise<TargetMade>;
  /** @throws TowpathError `conflict` or `not_found` without the App's permission for it */
  setDefaultBranch(address: Address, branch: string): Promise<void>;
  /** For `git push`: the credential writes this one repository, for some minutes at least. */
  remote(address: Address, repository: TargetRepository): Promise<GitRemote>;
};
