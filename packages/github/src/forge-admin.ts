import { hmacSha256 } from "@towpath/crypto";
import { z } from "zod";
import { isGitHubError } from "./errors.ts";
import { type GitHubRepository, type GitHubUser, gitHubRepositorySchema, gitHubUserSchema } from "./github.schema.ts";
import { requestJson } from "./request.ts";

export type ForgeAdminConfig = {
  /** The forge, without a trailing slash: GITHUB_URL of a local instance. */
  readonly url: string;
  /** GITHUB_CLIENT_SECRET. The operator token is derived from it; the secret itself is never sent. */
  readonly clientSecret: string;
};

export type ForgePushTarget = {
  readonly repository: GitHubRepository;
  /** Without a credential. */
  readonly cloneUrl: string;
  /** Contains the account's push token: keep it out of logs and out of stored git settings. */
  readonly pushUrl: string;
};

/** Operator calls of the local forge, all idempotent. They throw `GitHubError`. */
export type ForgeAdmin = {
  /** Whether a Towpath forge answers at the URL. Sends no credential. */
  available(): Promise<boolean>;
  ensureAccount(input: { login: string; name?: string; email?: string }): Promise<GitHubUser>;
  /** Installs the App on the account for all its repositories. Doesn't change an existing installation. */
  ensureInstallation(input: { login: string }): Promise<{ installationId: number }>;
  /**
   * Creates the repository, and adds it to the account's installation if that is for selected repositories.
   *
   * @throws GitHubError `conflict` when a person has created a repository of this name.
   */
  ensureRepository(input: {
    owner: string;
    name: string;
    description?: string;
    private?: boolean;
  }): Promise<ForgePushTarget>;
  /** Repositories that `ensureRepository` created and nobody has pushed to since, the oldest first. */
  unchangedRepositories(unchangedSince: Date): Promise<readonly { readonly id: number; readonly fullName: string }[]>;
  /**
   * Deletes a repository that `ensureRepository` created.
   *
   * @throws GitHubError `conflict` when it has changed since, or a person created it
   */
  deleteRepository(input: { id: number; unchangedSince: Date }): Promise<void>;
};

const pushTargetSchema = z
  .object({ repository: gitHubRepositorySchema, clone_url: z.string(), push_url: z.string() })
  .transform((target) => ({ repository: target.repository, cloneUrl: target.clone_url, pushUrl: target.push_url }));

const installationSchema = z.object({ installation_id: z.number().int() });

const repositoriesSchema = z.array(
  z
    .object({ id: z.number().int(), full_name: z.string() })
    .transform((found) => ({ id: found.id, fullName: found.full_name })),
);

/** Token of the forge's operator routes. Derived from the client secret, which web and forge share anyway. */
export function forgeOperatorToken(clientSecret: string): string {
  return hmacSha256(clientSecret, "towpath forge operator");
}

/** Client for the local forge's operator routes (GH-3). github.com has no such routes. */
export function createForgeAdmin(config: ForgeAdminConfig): ForgeAdmin {
  const authorization = `Bearer ${forgeOperatorToken(config.clientSecret)}`;

  async function post<Schema extends z.ZodType>(path: string, body: unknown, schema: Schema): Promise<z.infer<Schema>> {
    const request = { method: "POST", url: `${config.url}/internal/${path}`, authorization, body } as const;
    return (await requestJson(request, schema)).value;
  }

  return {
    async available() {
      try {
        const request = { method: "GET", url: `${config.url}/internal/forge` } as const;
        await requestJson(request, z.object({ name: z.literal("towpath-forge") }));
        return true;
      } catch (error) {
        if (isGitHubError(error)) return false;
        throw error;
      }
    },
    ensureAccount: (input) => post("accounts", input, gitHubUserSchema),
    async ensureInstallation(input) {
      return { installationId: (await post("installations", input, installationSchema)).installation_id };
    },
    ensureRepository: (input) => post("repositories", input, pushTargetSchema),
    async unchangedRepositories(since) {
      const url = `${config.url}/internal/repositories?${unchanged(since)}`;
      return (await requestJson({ method: "GET", url, authorization }, repositoriesSchema)).value;
    },
    async deleteRepository({ id, unchangedSince }) {
      const url = `${config.url}/internal/repositories/${id}?${unchanged(unchangedSince)}`;
      await requestJson({ method: "DELETE", url, authorization }, z.unknown());
    },
  };
}

const unchanged = (since: Date) => new URLSearchParams({ unchanged_since: since.toISOString() }).toString();

/** The forge of this instance; null when its repositories are at GitHub, or the forge doesn't answer. */
export async function findLocalForge(config: ForgeAdminConfig): Promise<ForgeAdmin | null> {
  if (new URL(config.url).hostname === "github.com") return null;
  const forge = createForgeAdmin(config);
  return (await forge.available()) ? forge : null;
}
