import type { RepositoryAddress } from "@towpath/core/ports";
import { z } from "zod";
import type { AppCredentials } from "./app-credentials.ts";
import type { GitHubConfig } from "./contract.ts";
import { apiPath, requestJson } from "./request.ts";

/** An App's status of a commit. */
export type CommitStatus = {
  readonly state: "pending" | "success" | "failure" | "error";
  /** Name of the check. */
  readonly context: string;
  /** At most 140 characters. */
  readonly description: string;
  /** Where to read more. */
  readonly targetUrl: string;
};

type CheckConclusion = "success" | "failure" | "neutral" | "cancelled" | "skipped" | "action_required";

/** A check run. Source: GitHub REST API, "Check runs". */
type CheckRun = {
  readonly name: string;
  /** Ours, by which it is found again. */
  readonly externalId: string;
  readonly detailsUrl: string;
  readonly status: "queued" | "in_progress" | "completed";
  /** Only when completed. */
  readonly conclusion: CheckConclusion | null;
  readonly title: string;
  /** Markdown; at most 65535 characters, like `text`. */
  readonly summary: string;
  readonly text: string | null;
  /** Buttons: at most three; a label has at most 20 characters, a description 40. */
  readonly actions: readonly { readonly label: string; readonly description: string; readonly identifier: string }[];
};

type DeploymentState = "queued" | "in_progress" | "success" | "failure" | "error" | "inactive";

/** Source: GitHub REST API, "Deployments" and "Deployment statuses". */
export type NewDeployment = {
  readonly sha: string;
  readonly environment: string;
  readonly description: string;
  /** Whether the environment ends some day, as that of a preview does. */
  readonly transient: boolean;
  /** Ours, by which it is found again. */
  readonly key: string;
};

type DeploymentStatus = {
  readonly state: DeploymentState;
  readonly description: string;
  readonly logUrl: string;
  /** null: nothing is served. */
  readonly environmentUrl: string | null;
};

/**
 * The App's reports of builds to a repository (BLD-8). `…Of` find what an earlier call created whose answer was lost.
 * Each needs the permission of its name; `update…` throw `not_found` for what a person deleted.
 */
export type ReportCalls = {
  /** The newest status of each `context` counts. Needs *Commit statuses*. */
  setCommitStatus(address: RepositoryAddress, sha: string, status: CommitStatus): Promise<void>;
  /** Needs *Checks*, like the two below. */
  createCheckRun(address: RepositoryAddress, sha: string, run: CheckRun): Promise<number>;
  updateCheckRun(address: RepositoryAddress, id: number, run: CheckRun): Promise<void>;
  checkRunOf(
    address: RepositoryAddress,
    sha: string,
    run: Pick<CheckRun, "name" | "externalId">,
  ): Promise<number | null>;
  /** Needs *Deployments*, like the two below. */
  createDeployment(address: RepositoryAddress, deployment: NewDeployment): Promise<number>;
  setDeploymentStatus(address: RepositoryAddress, id: number, status: DeploymentStatus): Promise<void>;
  deploymentOf(address: RepositoryAddress, deployment: NewDeployment): Promise<number | null>;
  /** Needs *Pull requests*, like the two below. */
  createComment(address: RepositoryAddress, pullRequest: number, body: string): Promise<number>;
  updateComment(address: RepositoryAddress, id: number, body: string): Promise<void>;
  /** The oldest comment of the App that has the mark in its text; null among the pull request's first 1,000. */
  commentWith(address: RepositoryAddress, pullRequest: number, mark: string): Promise<number | null>;
};

type Permission = "checks" | "deployments" | "pull_requests" | "statuses";

const createdSchema = z.object({ id: z.number().int() });
const checkRunsSchema = z.object({
  check_runs: z.array(z.object({ id: z.number().int(), external_id: z.string().nullish() })),
});
const deploymentsSchema = z.array(z.object({ id: z.number().int(), payload: z.unknown() }));
const commentsSchema = z.array(
  z.object({
    id: z.number().int(),
    body: z.string().nullish(),
    performed_via_github_app: z.object({ id: z.number().int() }).nullish(),
  }),
);

const maxCommentPages = 10;

export function createReportCalls(config: GitHubConfig, credentials: AppCredentials): ReportCalls {
  async function call<Schema extends z.ZodType>(
    to: { method: "GET" | "POST" | "PATCH"; address: RepositoryAddress; permission: Permission; path: string },
    schema: Schema,
    body?: unknown,
  ): Promise<z.infer<Schema>> {
    const { installationId, owner, name } = to.address;
    const scope = { installationId, repository: { name }, permissions: { [to.permission]: "write" } } as const;
    const url = config.apiUrl + apiPath("repos", owner, name) + to.path;
    const response = await credentials.withInstallationToken(scope, (authorization) =>
      requestJson(
        { reach: config.reach, method: to.method, url, authorization, ...(body !== undefined && { body }) },
        schema,
      ),
    );
    return response.value;
  }
  return {
    ...statusCalls(call),
    ...checkCalls(call),
    ...deploymentCalls(call),
    ...commentCalls(call, Number(config.appId)),
  };
}

type Call = <Schema extends z.ZodType>(
  to: { method: "GET" | "POST" | "PATCH"; address: RepositoryAddress; permission: Permission; path: string },
  schema: Schema,
  body?: unknown,
) => Promise<z.infer<Schema>>;

const statusCalls = (call: Call): Pick<ReportCalls, "setCommitStatus"> => ({
  async setCommitStatus(address, sha, { state, context, description, targetUrl }) {
    const to = { method: "POST", address, permission: "statuses", path: apiPath("statuses", sha) } as const;
    await call(to, z.unknown(), { state, context, description, target_url: targetUrl });
  },
});

function checkCalls(call: Call): Pick<ReportCalls, "createCheckRun" | "updateCheckRun" | "checkRunOf"> {
  const permission = "checks";
  const bodyOf = ({ name, externalId, detailsUrl, status, conclusion, title, summary, text, actions }: CheckRun) => ({
    name,
    external_id: externalId,
    details_url: detailsUrl,
    status,
    ...(conclusion !== null && { conclusion }),
    output: { title, summary, ...(text !== null && { text }) },
    actions,
  });
  return {
    async createCheckRun(address, sha, run) {
      const to = { method: "POST", address, permission, path: "/check-runs" } as const;
      return (await call(to, createdSchema, { ...bodyOf(run), head_sha: sha })).id;
    },
    async updateCheckRun(address, id, run) {
      const to = { method: "PATCH", address, permission, path: apiPath("check-runs", id) } as const;
      await call(to, createdSchema, bodyOf(run));
    },
    async checkRunOf(address, sha, { name, externalId }) {
      const query = new URLSearchParams({ check_name: name, filter: "all", per_page: "100" });
      const path = `${apiPath("commits", sha, "check-runs")}?${query}`;
      const { check_runs: runs } = await call({ method: "GET", address, permission, path }, checkRunsSchema);
      return runs.find((run) => run.external_id === externalId)?.id ?? null;
    },
  };
}

function deploymentCalls(call: Call): Pick<ReportCalls, "createDeployment" | "setDeploymentStatus" | "deploymentOf"> {
  const permission = "deployments";
  return {
    async createDeployment(address, { sha, environment, description, transient, key }) {
      const to = { method: "POST", address, permission, path: "/deployments" } as const;
      const body = {
        ref: sha,
        environment,
        description,
        payload: { key },
        // Otherwise GitHub merges the default branch into it, and waits for checks, including ours.
        auto_merge: false,
        required_contexts: [],
        transient_environment: transient,
        production_environment: !transient,
      };
      return (await call(to, createdSchema, body)).id;
    },
    async setDeploymentStatus(address, id, { state, description, logUrl, environmentUrl }) {
      const to = { method: "POST", address, permission, path: apiPath("deployments", id, "statuses") } as const;
      // Several servers may share an environment: only we know which deployment a new one replaces.
      const body = { state, description, log_url: logUrl, auto_inactive: false };
      await call(to, createdSchema, { ...body, ...(environmentUrl !== null && { environment_url: environmentUrl }) });
    },
    async deploymentOf(address, { sha, environment, key }) {
      const query = new URLSearchParams({ sha, environment, per_page: "100" });
      const path = `/deployments?${query}`;
      const found = await call({ method: "GET", address, permission, path }, deploymentsSchema);
      return found.find(({ payload }) => keyOf(payload) === key)?.id ?? null;
    },
  };
}

/** GitHub returns the payload as an object or as its JSON text. */
function keyOf(payload: unknown): unknown {
  if (typeof payload !== "string") return (payload as { key?: unknown } | null)?.key;
  try {
    return keyOf(JSON.parse(payload));
  } catch {
    return undefined;
  }
}

function commentCalls(call: Call, appId: number): Pick<ReportCalls, "createComment" | "updateComment" | "commentWith"> {
  const permission = "pull_requests";
  return {
    async createComment(address, pullRequest, body) {
      const to = { method: "POST", address, permission, path: apiPath("issues", pullRequest, "comments") } as const;
      return (await call(to, createdSchema, { body })).id;
    },
    async updateComment(address, id, body) {
      const to = { method: "PATCH", address, permission, path: apiPath("issues", "comments", id) } as const;
      await call(to, createdSchema, { body });
    },
    async commentWith(address, pullRequest, mark) {
      for (let page = 1; page <= maxCommentPages; page++) {
        const path = `${apiPath("issues", pullRequest, "comments")}?per_page=100&page=${page}`;
        const comments = await call({ method: "GET", address, permission, path }, commentsSchema);
        // Anybody can write the mark; only ours can be edited.
        const ours = comments.find(
          ({ body, performed_via_github_app: app }) => app?.id === appId && body?.includes(mark) === true,
        );
        if (ours) return ours.id;
        if (comments.length < 100) return null;
      }
      return null;
    },
  };
}
