import type { GitHubRepository, GitHubUser } from "@towpath/github";

type PushTarget = {
  readonly repository: GitHubRepository;
  /** With the owner's push token as its password. */
  readonly pushUrl: string;
};

/** Set-up at the stand-in without a browser. `ensure…` are idempotent. */
export type Admin = {
  ensureAccount(input: {
    login: string;
    name?: string;
    email?: string;
    type?: "User" | "Organization";
  }): Promise<GitHubUser>;
  /** Installs the App on the account. */
  ensureInstallation(input: { login: string }): Promise<{ readonly installationId: number }>;
  ensureRepository(input: { owner: string; name: string; private?: boolean }): Promise<PushTarget>;
  /** A token of the account, which has authorized the App: for REST, and as a password for git. */
  userToken(login: string): Promise<string>;
};

export function createAdmin(url: string): Admin {
  async function post<Answer>(path: string, body: unknown): Promise<Answer> {
    const answer = await fetch(`${url}/internal/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }
  return {
    ensureAccount: (input) => post("accounts", input),
    async ensureInstallation(input) {
      return { installationId: (await post<{ installation_id: number }>("installations", input)).installation_id };
    },
    async ensureRepository(input) {
      type Answer = { repository: GitHubRepository; push_url: string };
      const { repository, push_url: pushUrl } = await post<Answer>("repositories", input);
      return { repository, pushUrl };
    },
    userToken: async (login) => (await post<{ token: string }>("user-tokens", { login })).token,
  };
}
