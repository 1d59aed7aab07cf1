import { z } from "zod";

/* Payloads of the webhook events that Towpath acts on. Source: GitHub webhook events and payloads. */

const installationRefSchema = z.object({ id: z.number().int() });

const accountSchema = z.object({ id: z.number().int(), login: z.string(), type: z.string().default("User") });

const webhookRepositorySchema = z.object({
  id: z.number().int(),
  name: z.string(),
  full_name: z.string(),
  private: z.boolean(),
  default_branch: z.string(),
  html_url: z.string(),
  owner: z.object({ login: z.string().optional(), name: z.string().nullish() }),
});

const pushCommitSchema = z.object({
  id: z.string(),
  message: z.string(),
  timestamp: z.string(),
  url: z.string().optional(),
  author: z.object({ name: z.string(), email: z.string().nullish(), username: z.string().nullish() }),
});

const noCommit = /^0+$/;

export const pushEventSchema = z
  .object({
    ref: z.string(),
    before: z.string(),
    after: z.string(),
    created: z.boolean().default(false),
    deleted: z.boolean().default(false),
    forced: z.boolean().default(false),
    compare: z.string().optional(),
    commits: z.array(pushCommitSchema).default([]),
    head_commit: pushCommitSchema.nullable(),
    repository: webhookRepositorySchema,
    installation: installationRefSchema.optional(),
    sender: accountSchema.optional(),
  })
  .transform((push) => ({
    ...push,
    /** Name of the pushed branch; null for a tag. */
    branch: push.ref.startsWith("refs/heads/") ? push.ref.slice("refs/heads/".length) : null,
    /** The ref is gone: `after` is all zeros. */
    deleted: push.deleted || noCommit.test(push.after),
  }));

const pullRequestSideSchema = z.object({
  ref: z.string(),
  sha: z.string(),
  /** null: the fork was deleted. */
  repo: z.object({ id: z.number().int(), full_name: z.string() }).nullable(),
});

export const pullRequestEventSchema = z.object({
  /** opened | synchronize | reopened | closed | … */
  action: z.string(),
  number: z.number().int(),
  pull_request: z.object({
    id: z.number().int(),
    number: z.number().int(),
    title: z.string(),
    state: z.enum(["open", "closed"]),
    merged: z.boolean().nullish(),
    html_url: z.string(),
    user: z.object({ id: z.number().int(), login: z.string() }),
    head: pullRequestSideSchema,
    base: pullRequestSideSchema,
  }),
  repository: webhookRepositorySchema,
  installation: installationRefSchema.optional(),
  sender: accountSchema.optional(),
});

const repositoryRefSchema = z.object({
  id: z.number().int(),
  name: z.string(),
  full_name: z.string(),
  private: z.boolean(),
});

const fullInstallationSchema = z.object({
  id: z.number().int(),
  account: accountSchema,
  repository_selection: z.enum(["all", "selected"]),
});

export const installationEventSchema = z.object({
  /** created | deleted | suspend | unsuspend | new_permissions_accepted */
  action: z.string(),
  installation: fullInstallationSchema,
  repositories: z.array(repositoryRefSchema).default([]),
  sender: accountSchema.optional(),
});

export const installationRepositoriesEventSchema = z.object({
  /** added | removed */
  action: z.string(),
  installation: fullInstallationSchema,
  repository_selection: z.enum(["all", "selected"]),
  repositories_added: z.array(repositoryRefSchema).default([]),
  repositories_removed: z.array(repositoryRefSchema).default([]),
  sender: accountSchema.optional(),
});

export const deleteEventSchema = z.object({
  /** Short name, without refs/heads/. */
  ref: z.string(),
  ref_type: z.enum(["branch", "tag"]),
  repository: webhookRepositorySchema,
  installation: installationRefSchema.optional(),
  sender: accountSchema.optional(),
});

export const repositoryEventSchema = z.object({
  /** renamed | transferred | edited (default branch) | privatized | publicized | archived | deleted | … */
  action: z.string(),
  repository: webhookRepositorySchema,
  installation: installationRefSchema.optional(),
  sender: accountSchema.optional(),
});

export const checkRunEventSchema = z.object({
  /** created | completed | rerequested | requested_action */
  action: z.string(),
  check_run: z.object({ head_sha: z.string(), external_id: z.string().nullish() }),
  /** Only with `requested_action`: the button's. */
  requested_action: z.object({ identifier: z.string() }).nullish(),
  repository: webhookRepositorySchema,
  sender: accountSchema,
});

export const pingEventSchema = z.object({ zen: z.string().optional(), hook_id: z.number().int().optional() });

export type PushEvent = z.infer<typeof pushEventSchema>;
type PullRequestEvent = z.infer<typeof pullRequestEventSchema>;
type InstallationEvent = z.infer<typeof installationEventSchema>;
type InstallationRepositoriesEvent = z.infer<typeof installationRepositoriesEventSchema>;
type DeleteEvent = z.infer<typeof deleteEventSchema>;
type RepositoryEvent = z.infer<typeof repositoryEventSchema>;
type CheckRunEvent = z.infer<typeof checkRunEventSchema>;
type PingEvent = z.infer<typeof pingEventSchema>;

/** `ignored`: an event that Towpath doesn't use. */
export type WebhookEvent =
  | { readonly event: "push"; readonly payload: PushEvent }
  | { readonly event: "pull_request"; readonly payload: PullRequestEvent }
  | { readonly event: "installation"; readonly payload: InstallationEvent }
  | { readonly event: "installation_repositories"; readonly payload: InstallationRepositoriesEvent }
  | { readonly event: "delete"; readonly payload: DeleteEvent }
  | { readonly event: "repository"; readonly payload: RepositoryEvent }
  | { readonly event: "check_run"; readonly payload: CheckRunEvent }
  | { readonly event: "ping"; readonly payload: PingEvent }
  | { readonly event: "ignored"; readonly name: string };
