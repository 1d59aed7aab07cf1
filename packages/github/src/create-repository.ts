import pRetry from "p-retry";
import { z } from "zod";
import type { AppCredentials } from "./app-credentials.ts";
import type { CreatedRepository, GitHubConfig, NewRepository } from "./contract.ts";
import { isGitHubError } from "./errors.ts";
import { type GitHubRepository, gitHubInstallationSchema, gitHubRepositorySchema } from "./github.schema.ts";
import { apiPath, requestJson } from "./request.ts";

const shaSchema = z.object({ sha: z.string() });
const refSchema = z.object({ object: shaSchema });
const installationIdSchema = z.object({ id: z.number().int() });

const maxNameAttempts = 9;
const settling = { minTimeout: 400, factor: 1 };

/** GitHub creates a new repository's first commit, and the App's access to it, a moment after it has responded. */
const onceSettled = <Result>(call: () => Promise<Result>): Promise<Result> =>
  pRetry(call, {
    ...settling,
    retries: 5,
    shouldRetry: ({ error }) => isGitHubError(error, "not_found") || isGitHubError(error, "conflict"),
  });

async function createUnderFreeName(config: GitHubConfig, input: NewRepository): Promise<GitHubRepository> {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? input.name : `${input.name}-${count}`;
    try {
      // auto_init: GitHub accepts no git objects for an empty repository.
      const body = { name, description: input.description, private: input.private ?? false, auto_init: true };
      const request = { reach: config.reach, method: "POST", url: `${config.apiUrl}/user/repos`, body } as const;
      const authorization = `Bearer ${input.userToken}`;
      return (await requestJson({ ...request, authorization }, gitHubRepositorySchema)).value;
    } catch (error) {
      if (!isGitHubError(error, "name_taken") || count === maxNameAttempts) throw error;
    }
  }
}

/** Adds a commit with exactly these files. Returns its sha. */
async function commitFiles(config: GitHubConfig, input: NewRepository, repository: GitHubRepository): Promise<string> {
  const authorization = `Bearer ${input.userToken}`;
  const { reach } = config;
  const git = `${config.apiUrl}${apiPath("repos", repository.owner.login, repository.name, "git")}`;
  const post = async (path: string, body: unknown) =>
    (await requestJson({ reach, method: "POST", url: git + path, authorization, body }, shaSchema)).value.sha;

  const headUrl = git + apiPath("ref", "heads", repository.default_branch);
  const head = await onceSettled(() => requestJson({ reach, method: "GET", url: headUrl, authorization }, refSchema));
  const tree = await post("/trees", {
    tree: input.files.map(({ path, content }) => ({ path, content, mode: "100644", type: "blob" })),
  });
  const commit = await post("/commits", { message: input.message, tree, parents: [head.value.object.sha] });
  const url = git + apiPath("refs", "heads", repository.default_branch);
  await requestJson({ reach, method: "PATCH", url, authorization, body: { sha: commit } }, refSchema);
  return commit;
}

async function installationOf({ reach }: GitHubConfig, url: string, authorization: string): Promise<number | null> {
  const ask = () => requestJson({ reach, method: "GET", url, authorization }, installationIdSchema);
  const shouldRetry = ({ error }: { error: Error }) => isGitHubError(error, "not_found");
  try {
    return (await pRetry(ask, { ...settling, retries: 2, shouldRetry })).value.id;
  } catch (error) {
    if (isGitHubError(error, "not_found")) return null;
    throw error;
  }
}

async function settingsUrlOf(config: GitHubConfig, authorization: string, login: string): Promise<string> {
  try {
    const url = config.apiUrl + apiPath("users", login, "installation");
    return (await requestJson({ reach: config.reach, method: "GET", url, authorization }, gitHubInstallationSchema))
      .value.html_url;
  } catch (error) {
    if (isGitHubError(error, "not_found")) return `${config.url}/apps/${config.appSlug}/installations/new`;
    throw error;
  }
}

/**
 * Creates the repository in the account of the token's user and commits the files (ONB-4). Requires write access to
 * administration and contents.
 *
 * GitHub adds repositories that the App creates to an installation on selected repositories. If it doesn't, we can't:
 * `PUT /user/installations/…/repositories/…` accepts only classic personal access tokens. The result then has no
 * installation, but the URL of the page where the owner can add the repository.
 */
export async function createRepositoryFromSample(
  config: GitHubConfig,
  credentials: AppCredentials,
  input: NewRepository,
): Promise<CreatedRepository> {
  const repository = await createUnderFreeName(config, input);
  const commitSha = await commitFiles(config, input, repository);
  const url = config.apiUrl + apiPath("repos", repository.owner.login, repository.name, "installation");
  const authorization = await credentials.appAuthorization();
  const installationId = await installationOf(config, url, authorization);
  const settingsUrl = await settingsUrlOf(config, authorization, repository.owner.login);
  return { repository, commitSha, installationId, settingsUrl };
}
