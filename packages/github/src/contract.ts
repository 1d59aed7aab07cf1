import type { NewPullRequest, RepositoryAddress } from "@towpath/core/ports";
import type {
  GitHubApp,
  GitHubBranch,
  GitHubBranchSummary,
  GitHubCommit,
  GitHubDelivery,
  GitHubInstallation,
  GitHubPullRequest,
  GitHubRepository,
  GitHubUser,
} from "./github.schema.ts";
import type { ReportCalls } from "./reports.ts";
import type { Reach } from "./request.ts";

/**
 * Settings of `createGitHub`: the GitHub App's credentials, and the URLs of github.com or an Enterprise host.
 */
export type GitHubConfig = {
  readonly appId: string;
  /** The App's name in URLs: `${url}/apps/{slug}/installations/new`. */
  readonly appSlug: string;
  /** PEM, PKCS#1 or PKCS#8. */
  readonly privateKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly webhookSecret: string;
  /** For browsers, without a trailing slash: https://github.com */
  readonly url: string;
  /** For REST, without a trailing slash: https://api.github.com */
  readonly apiUrl: string;
  /** How its host is reached, also where that redirects; absent: like any. */
  readonly reach?: Reach | undefined;
};

type Page<Item> = {
  readonly items: readonly Item[];
  /** The next page's number; null on the last page. Pages count from 1. */
  readonly nextPage: number | null;
};

/** A user's token. Keep it in memory or encrypted storage, never in a log or a URL. */
export type UserToken = {
  readonly accessToken: string;
  /** null: does not expire. */
  readonly expiresAt: Date | null;
  readonly refreshToken: string | null;
  readonly refreshTokenExpiresAt: Date | null;
};

type BranchHeads = {
  readonly heads: ReadonlyMap<string, string>;
  /** null: the host has none for all of it. */
  readonly etag: string | null;
};

type RepositoryFile = {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly size: number;
};

export type SampleFile = { readonly path: string; readonly content: string };

export type NewRepository = {
  readonly userToken: string;
  /** Names that are taken get -2, -3, … up to -9. */
  readonly name: string;
  readonly description?: string;
  readonly private?: boolean;
  readonly files: readonly [SampleFile, ...SampleFile[]];
  /** Message of the commit that adds the files. */
  readonly message: string;
};

export type CreatedRepository = {
  readonly repository: GitHubRepository;
  /** The commit with the files; the head of the default branch. */
  readonly commitSha: string;
  /**
   * The installation that can read the new repository. null: the App is not installed on the account, or only on
   * selected repositories without this one; then send the user to `settingsUrl`.
   */
  readonly installationId: number | null;
  /** The page where the account's owner can give the App access to it. */
  readonly settingsUrl: string;
};

type NewEmptyRepository = {
  readonly installationId: number;
  readonly name: string;
  readonly private: boolean;
  /** The token of a person, for their own account; null: as the App, which is allowed in organizations' accounts. */
  readonly userToken: string | null;
};

/** All calls throw only `GitHubError`, or the reason of an aborted signal. */
export type GitHub = ReportCalls & {
  readonly config: Pick<GitHubConfig, "appId" | "appSlug" | "clientId" | "url" | "apiUrl">;

  /**
   * The App's own record, and the host's clock when it answered. Succeeds only if the private key belongs to the App's id.
   */
  app(): Promise<GitHubApp & { readonly date: Date | null }>;
  /** Where the App sends webhooks; null: nowhere. */
  webhookUrl(): Promise<string | null>;
  /** Changes where it sends webhooks, and the secret that signs them from now on. */
  setWebhook(hook: { readonly url: string; readonly secret: string }): Promise<void>;

  // Users
  /** The page to send the browser to. The callback must get `state` back unchanged. */
  userAuthorizeUrl(input: { state: string; redirectUri?: string; codeChallenge?: string }): string;
  /** A code works once and for ten minutes. An unknown or used one: `unauthorized`. */
  exchangeCode(input: { code: string; redirectUri?: string; codeVerifier?: string }): Promise<UserToken>;
  refreshUserToken(refreshToken: string): Promise<UserToken>;
  viewer(userToken: string): Promise<GitHubUser>;
  /**
   * All installations that this user may manage or use, including those where they can read a single repository.
   * `administers` tells whether the user may claim one.
   */
  userInstallations(userToken: string): Promise<readonly GitHubInstallation[]>;
  /**
   * Whether the token's user owns the account: their own, or an organization that they own.
   *
   * @throws GitHubError `forbidden` when the App lacks the permission to read the organization's members, or the
   * organization restricts the App.
   */
  administers(userToken: string, viewer: GitHubUser, account: GitHubInstallation["account"]): Promise<boolean>;
  /** Repositories of an installation that this user may read. */
  userRepositories(userToken: string, installationId: number, page?: number): Promise<Page<GitHubRepository>>;
  /**
   * Creates a repository in the user's account and commits the files. Parts of `CreatedRepository` may be missing.
   */
  createRepositoryFromSample(input: NewRepository): Promise<CreatedRepository>;

  // Installations
  /** GitHub's page that installs the App, or configures it where it is installed. */
  installUrl(state: string): string;
  installation(installationId: number): Promise<GitHubInstallation>;
  /** Up to 100 a page. */
  repositories(installationId: number, page?: number): Promise<Page<GitHubRepository>>;

  /**
   * Creates a repository without commits in the installation's account. Requires write access to administration. The caller
   * has checked the token's owner.
   *
   * @throws GitHubError `name_taken`
   */
  createEmptyRepository(input: NewEmptyRepository): Promise<GitHubRepository>;

  // One repository
  repository(address: RepositoryAddress): Promise<GitHubRepository>;
  /** For a repository that may have been renamed since. */
  repositoryById(installationId: number, repositoryId: number): Promise<GitHubRepository>;
  /** Up to 100 a page, by name. */
  branches(address: RepositoryAddress, page?: number): Promise<Page<GitHubBranchSummary>>;
  /**
   * Heads of up to 1,000 branches by name. `etag`: of an earlier answer; returns null if nothing changed since, which
   * doesn't count toward the rate limit.
   */
  heads(address: RepositoryAddress, etag: string | null): Promise<BranchHeads | null>;
  branch(address: RepositoryAddress, name: string): Promise<GitHubBranch>;
  /** Requires write access to administration. */
  setDefaultBranch(address: RepositoryAddress, branch: string): Promise<void>;
  /**
   * A token for `git push` to this repository only, valid for at least five minutes, and for workflow files if the App
   * may write them. Keep it in memory.
   */
  pushToken(address: RepositoryAddress): Promise<string>;
  /** The same for `git fetch`. */
  fetchToken(address: RepositoryAddress): Promise<string>;
  /** As a user; returns its URL for browsers. */
  createPullRequest(address: RepositoryAddress, pull: NewPullRequest): Promise<string>;
  /** Pull requests from a branch of the repository itself, open and closed; the newest 100. */
  pullRequestsFrom(address: RepositoryAddress, branch: string): Promise<readonly GitHubPullRequest[]>;
  /** From this repository or a fork. */
  pullRequest(address: RepositoryAddress, number: number): Promise<GitHubPullRequest>;
  /** `ref`: sha, branch or tag. */
  commit(address: RepositoryAddress, ref: string): Promise<GitHubCommit>;
  /** True for a file; false for a directory, an absent path and an absent ref. */
  fileExists(address: RepositoryAddress, path: string, ref: string): Promise<boolean>;
  /** The text of a file; null where `fileExists` is false, and above 1 MB. */
  readFile(address: RepositoryAddress, path: string, ref: string): Promise<string | null>;
  /** Files of the tree. `truncated`: GitHub left some out (over 100,000 entries or 7 MB). */
  listFiles(address: RepositoryAddress, ref: string): Promise<{ files: readonly RepositoryFile[]; truncated: boolean }>;
  /**
   * Paths of files, links and submodules that differ between two commits. null: a commit is gone, or the repository has
   * more files than GitHub lists.
   */
  changedFiles(address: RepositoryAddress, base: string, head: string): Promise<readonly string[] | null>;
  /**
   * A gzipped tar with one top-level directory. Read it to its end or cancel it. Times out after 30 s without a first
   * byte; after that only `signal` ends it.
   */
  tarball(input: TarballInput, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;

  // Webhooks
  /** Newest first. */
  webhookDeliveries(page?: {
    cursor?: string;
  }): Promise<{ deliveries: readonly GitHubDelivery[]; nextCursor: string | null }>;
  redeliver(deliveryId: number): Promise<void>;
};

type TarballInput = RepositoryAddress & {
  /** Narrows the token by id, so that a renamed repository still works. */
  readonly repositoryId: number;
  /** Full commit id. */
  readonly sha: string;
};
