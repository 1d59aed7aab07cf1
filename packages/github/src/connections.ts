import { atHost, environmentConnection, numberOf } from "@towpath/core/github-connection/numbers";
import { gitHubNotConfigured } from "@towpath/core/ports";
import { createGitHub } from "./client.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import { GitHubError } from "./errors.ts";
import type { GitHubPullRequest, GitHubRepository } from "./github.schema.ts";
import type { Reach } from "./request.ts";
import { verifyWebhook } from "./webhooks.ts";

/** A GitHub App that this instance uses. Ids that its client takes and returns are the host's own. */
type GitHubConnection = {
  /** 0: the environment's. */
  readonly number: number;
  /** null: the environment's. */
  readonly id: string | null;
  readonly github: GitHub;
  /** Path of the instance to which its webhooks go. */
  readonly webhookPath: string;
  /** Whether it signed a webhook: see `verifyWebhook`. */
  signed(rawBody: Uint8Array, signature: string | null): boolean;
};

export type StoredConnection = GitHubConfig & {
  readonly id: string;
  readonly number: number;
  /** Grows with each change of the secrets. */
  readonly version: number;
};

/** Calls whose first argument is or has an installation's number. */
const installationCalls = [
  ...(["installation", "repositories", "repository", "repositoryById", "branches", "branch"] as const),
  ...(["pullRequestsFrom", "pullRequest", "commit", "fileExists", "readFile", "listFiles", "changedFiles"] as const),
  ...(["tarball", "setCommitStatus", "createCheckRun", "updateCheckRun", "checkRunOf", "createDeployment"] as const),
  ...(["setDeploymentStatus", "deploymentOf", "createComment", "updateComment", "commentWith", "heads"] as const),
  ...(["createEmptyRepository", "setDefaultBranch", "pushToken"] as const),
] as const;
type CallName = (typeof installationCalls)[number];

/**
 * Calls for the installations of all connections. Numbers of installations and repositories that they take and return are
 * Towpath's (decision 054); other ids, such as those of comments, are the host's.
 */
type InstallationCalls = Pick<GitHub, CallName>;

export type GitHubConnections = InstallationCalls & {
  /** The environment's first, then the oldest. */
  all(): Promise<readonly GitHubConnection[]>;
  /** By number or id; null: it was removed, or never was. */
  find(which: number | string): Promise<GitHubConnection | null>;
  /** The one that people connect accounts of unless they choose another. @throws TowpathError `not_configured` */
  preferred(): Promise<GitHubConnection>;
  /** Reads the stored ones again at the next use: one was changed. */
  forget(): void;
};

/** Other processes notice a change after so long. */
const knownForMs = 2000;

const environmentWebhookPath = "/api/github/webhooks";
export const webhookPathOf = (id: string) => `${environmentWebhookPath}/${id}`;

/**
 * The GitHub Apps of an instance: that of the environment and the stored ones, which change while the process runs.
 *
 * @param load reads the stored ones, oldest first; asked only when somebody uses GitHub, and at most every two seconds but
 * for a number that isn't among them
 * @param reach how the hosts of the stored ones, which people have typed, are reached; absent: like any
 */
export function createGitHubConnections(
  environment: GitHubConfig | null,
  load: () => Promise<readonly StoredConnection[]>,
  reach?: Reach,
): GitHubConnections {
  const ofEnvironment = environment && connectionOf(environment, { id: null, number: environmentConnection });
  let known: { readonly until: number; readonly list: Promise<readonly Known[]> } | null = null;

  async function read(before: readonly Known[]): Promise<readonly Known[]> {
    const stored = await load();
    return stored.map((each) => {
      // Kept with its cached tokens.
      const same = before.find(({ id, version }) => id === each.id && version === each.version);
      return same ?? { ...each, connection: connectionOf({ ...each, reach }, each) };
    });
  }

  async function all(): Promise<readonly GitHubConnection[]> {
    if (known === null || known.until < Date.now()) {
      const before = await known?.list.catch(() => []);
      const list = read(before ?? []);
      known = { until: Date.now() + knownForMs, list };
      list.catch(() => {
        if (known?.list === list) known = null;
      });
    }
    const stored = (await known.list).map(({ connection }) => connection);
    return ofEnvironment ? [ofEnvironment, ...stored] : stored;
  }

  function forget(): void {
    if (known) known = { ...known, until: 0 };
  }

  async function find(which: number | string): Promise<GitHubConnection | null> {
    if (which === environmentConnection) return ofEnvironment;
    const listed = async () => (await all()).find(({ id, number }) => number === which || id === which) ?? null;
    const found = await listed();
    // A number comes from what is stored: its App may have been connected a moment ago. An id comes from anybody's URL.
    if (found !== null || typeof which === "string") return found;
    forget();
    return listed();
  }

  async function clientOf(connection: number): Promise<GitHub> {
    const found = await find(connection);
    if (found) return found.github;
    if ((await all()).length === 0) throw new GitHubError("not_configured");
    // As for an installation that is gone: what was built from there has no source any more.
    throw new GitHubError("not_found", { detail: `there is no GitHub connection ${connection}` });
  }

  return {
    all,
    find,
    async preferred() {
      const list = await all();
      if (!list[0]) throw gitHubNotConfigured();
      return list[0];
    },
    forget,
    ...callsThrough(clientOf),
  };
}

type Known = Pick<StoredConnection, "id" | "version"> & { readonly connection: GitHubConnection };

function connectionOf(config: GitHubConfig, of: Pick<GitHubConnection, "id" | "number">): GitHubConnection {
  return {
    ...{ id: of.id, number: of.number, github: createGitHub(config) },
    webhookPath: of.id === null ? environmentWebhookPath : webhookPathOf(of.id),
    signed: (rawBody, signature) => verifyWebhook(config.webhookSecret, rawBody, signature),
  };
}

type First = number | { readonly installationId: number; readonly repositoryId?: number };

function callsThrough(clientOf: (connection: number) => Promise<GitHub>): InstallationCalls {
  const call =
    (name: CallName) =>
    async (first: First, ...rest: readonly unknown[]): Promise<unknown> => {
      const { connection, id } = atHost(typeof first === "number" ? first : first.installationId);
      const client = await clientOf(connection);
      const run = client[name] as (first: unknown, ...rest: readonly unknown[]) => Promise<unknown>;
      if (typeof first !== "number") {
        const { repositoryId, ...address } = first;
        const repository = repositoryId === undefined ? {} : { repositoryId: atHost(repositoryId).id };
        return renumber(connection, name, await run({ ...address, ...repository, installationId: id }, ...rest));
      }
      const [second, ...more] = rest;
      const args = name === "repositoryById" ? [atHost(Number(second)).id, ...more] : rest;
      return renumber(connection, name, await run(id, ...args));
    };
  return Object.fromEntries(installationCalls.map((name) => [name, call(name)])) as unknown as InstallationCalls;
}

/** The answer of a client with Towpath's numbers. */
function renumber(connection: number, name: CallName, answer: unknown): unknown {
  const own = <Of extends { readonly id: number }>(of: Of): Of => ({ ...of, id: numberOf(connection, of.id) });
  const pull = ({ head, base, ...of }: GitHubPullRequest): GitHubPullRequest => ({
    ...of,
    head: { ...head, repo: head.repo && own(head.repo) },
    base: { ...base, repo: own(base.repo) },
  });
  switch (name) {
    case "installation":
    case "repository":
    case "repositoryById":
    case "createEmptyRepository":
      return own(answer as GitHubRepository);
    case "repositories": {
      const page = answer as Awaited<ReturnType<GitHub["repositories"]>>;
      return { ...page, items: page.items.map(own) };
    }
    case "pullRequest":
      return pull(answer as GitHubPullRequest);
    case "pullRequestsFrom":
      return (answer as readonly GitHubPullRequest[]).map(pull);
    default:
      return answer;
  }
}
