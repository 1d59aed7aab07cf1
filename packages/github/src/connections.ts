import { gitHubNotConfigured } from "@towpath/core/ports";
import { atHost, environmentConnection, numberOf } from "@towpath/core/sources/github-connection/numbers";
import { createGitHub } from "./client.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import { GitHubError } from "./errors.ts";
import type { GitHubPullRequest, GitHubRepository } from "./github.schema.ts";
import type { Reach } from "./request.ts";
import { verifyWebhook } from "./webhooks.ts";

/** A GitHub App of this instance. Its client takes and returns the host's own ids. */
type GitHubConnection = {
  /** 0: the environment's. */
  readonly number: number;
  /** null: the environment's. */
  readonly id: string | null;
  readonly github: GitHub;
  /** Path of the instance for its webhooks. */
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
  ...(["createEmptyRepository", "setDefaultBranch", "pushToken", "fetchToken", "createPullRequest"] as const),
] as const;
type CallName = (typeof installationCalls)[number];

/**
 * Calls for the installations of all connections. They take and return Towpath's numbers of installations and
 * repositories (decision 054), and the host's own ids of everything else, such as comments.
 */
type InstallationCalls = Pick<GitHub, CallName>;

export type GitHubConnections = InstallationCalls & {
  /** The environment's first, then the oldest. */
  all(): Promise<readonly GitHubConnection[]>;
  /** By number or id; null: it was removed, or never was. */
  find(which: number | string): Promise<GitHubConnection | null>;
  /** The default connection for new accounts. @throws TowpathError `not_configured` */
  preferred(): Promise<GitHubConnection>;
  /** Rereads the stored connections at the next use. */
  forget(): void;
};

/** Other processes notice a change after so long. */
const cacheMs = 2000;

export const environmentWebhookPath = "/api/github/webhooks";
export const webhookPathOf = (id: string) => `${environmentWebhookPath}/${id}`;

/**
 * The GitHub Apps of an instance: the environment's and the stored ones, which change while the process runs.
 *
 * @param load reads the stored ones, oldest first; called only when GitHub is used, and at most every two seconds,
 * except for an unknown number
 * @param reach the `fetch` for hosts of stored ones, whose addresses people typed; absent: the global one
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
      known = { until: Date.now() + cacheMs, list };
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
    // A number is read from the database: its App may be new. An id can be from anybody's URL.
    if (found !== null || typeof which === "string") return found;
    forget();
    return listed();
  }

  async function clientOf(connection: number): Promise<GitHub> {
    const found = await find(connection);
    if (found) return found.github;
    if ((await all()).length === 0) throw new GitHubError("not_configured");
    // Like a deleted installation: its projects have lost their source.
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
    id: of.id,
    number: of.number,
    github: createGitHub(config),
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
