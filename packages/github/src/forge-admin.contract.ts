import type { GitHubRepository, GitHubUser } from "./github.schema.ts";

export type ForgeAdminConfig = {
  /** The forge, without a trailing slash: GITHUB_URL of a local instance. */
  readonly url: string;
  /** GITHUB_CLIENT_SECRET; the operator token is derived from it and the secret itself is never sent. */
  readonly clientSecret: string;
};

export type ForgePushTarget = {
  readonly repository: GitHubRepository;
  /** Without a credential. */
  readonly cloneUrl: string;
  /** With the account's push token in it: keep it out of logs and out of stored git settings. */
  readonly pushUrl: string;
};

/** Operator calls of the local forge; github.com has nothing like them. All throw `GitHubError`. Every call is idempotent. */
export type ForgeAdmin = {
  /** Whether a Towpath forge answers at the URL. Sends no credential. */
  available(): Promise<boolean>;
  ensureAccount(input: { login: string; name?: string; email?: string }): Promise<GitHubUser>;
  /** Installs the App on the account for all its repositories. An installation that is there is kept as it is. */
  ensureInstallation(input: { login: string }): Promise<{ installationId: number }>;
  /**
   * A repository that only operator calls make. Also adds it to the account's installation when that is for chosen
   * repositories. Fails with `conflict` when a person made the repository of this name.
   */
  ensureRepository(input: {
    owner: string;
    name: string;
    description?: string;
    private?: boolean;
  }): Promise<ForgePushTarget>;
};
