import { z } from "zod";

/*
 * The parts of GitHub's REST responses that Towpath uses (spec.md section 3). Unknown keys are dropped.
 * Source: GitHub REST API, version 2022-11-28.
 */

export const gitHubUserSchema = z.object({
  id: z.number().int(),
  login: z.string(),
  name: z
    .string()
    .nullish()
    .transform((name) => name ?? null),
  /** null unless the user made it public. */
  email: z
    .string()
    .nullish()
    .transform((email) => email ?? null),
  avatar_url: z.string(),
});
export type GitHubUser = z.infer<typeof gitHubUserSchema>;

export const gitHubRepositorySchema = z.object({
  id: z.number().int(),
  name: z.string(),
  description: z
    .string()
    .nullish()
    .transform((description) => description ?? null),
  full_name: z.string(),
  private: z.boolean(),
  default_branch: z.string(),
  updated_at: z
    .string()
    .nullish()
    .transform((updatedAt) => updatedAt ?? null),
  temp_clone_token: z
    .string()
    .nullish()
    .transform((token) => token ?? undefined),
  html_url: z.string(),
  owner: z.object({ id: z.number().int(), login: z.string() }),
});
export type GitHubRepository = z.infer<typeof gitHubRepositorySchema>;

/** A branch in a list: only the id of its newest commit. */
export const gitHubBranchSummarySchema = z.object({
  name: z.string(),
  commit: z.object({ sha: z.string(), url: z.string() }),
  protected: z.boolean().optional(),
});
export type GitHubBranchSummary = z.infer<typeof gitHubBranchSummarySchema>;

const signatureSchema = z
  .object({ name: z.string().nullish(), email: z.string().nullish(), date: z.string().nullish() })
  .nullish()
  .transform((by) => ({ name: by?.name ?? "", email: by?.email ?? "", date: by?.date ?? "" }));

const rawCommitSchema = z.object({
  sha: z.string(),
  url: z.string(),
  html_url: z.string().nullish(),
  commit: z.object({ message: z.string(), author: signatureSchema, committer: signatureSchema }),
});

export const gitHubCommitSchema = rawCommitSchema.transform((raw) => ({
  sha: raw.sha,
  url: raw.url,
  html_url: raw.html_url ?? null,
  message: raw.commit.message,
  author: raw.commit.author,
  committer: raw.commit.committer,
}));
export type GitHubCommit = z.infer<typeof gitHubCommitSchema>;

export const gitHubBranchSchema = z.object({
  name: z.string(),
  commit: gitHubCommitSchema,
  protected: z.boolean().optional(),
});
/** A branch with its newest commit: sha, url, committer (name, date), message. */
export type GitHubBranch = z.infer<typeof gitHubBranchSchema>;

export const gitHubPullRequestSchema = z.object({
  number: z.number().int(),
  /** open | closed; merged ones are closed. */
  state: z.string(),
  html_url: z.string(),
  title: z.string().default(""),
  /** null: the account was deleted. */
  user: z.object({ login: z.string() }).nullish(),
  head: z.object({
    ref: z.string(),
    sha: z.string(),
    /** null: the fork was deleted. */
    repo: z.object({ id: z.number().int(), full_name: z.string().default("") }).nullable(),
  }),
  base: z.object({ repo: z.object({ id: z.number().int() }) }),
});
export type GitHubPullRequest = z.infer<typeof gitHubPullRequestSchema>;

export const gitHubInstallationSchema = z.object({
  id: z.number().int(),
  account: z.object({
    id: z.number().int(),
    login: z.string(),
    /** User | Organization */
    type: z.string(),
    avatar_url: z.string(),
  }),
  repository_selection: z.enum(["all", "selected"]),
  /** Page on which the account's owner selects repositories. */
  html_url: z.string(),
  permissions: z.record(z.string(), z.string()).default({}),
  suspended_at: z
    .string()
    .nullish()
    .transform((at) => at ?? null),
});
export type GitHubInstallation = z.infer<typeof gitHubInstallationSchema>;

/**
 * A user's membership in an organization. Source: GitHub REST API, "Get an organization membership for the
 * authenticated user".
 */
export const gitHubMembershipSchema = z.object({
  /** active | pending */
  state: z.string(),
  /** admin (an owner) | member | billing_manager | … */
  role: z.string(),
  organization: z.object({ id: z.number().int(), login: z.string() }),
});

export const gitHubAppSchema = z.object({
  id: z.number().int(),
  slug: z.string(),
  name: z.string(),
  html_url: z.string(),
  permissions: z.record(z.string(), z.string()).default({}),
  events: z.array(z.string()).default([]),
  owner: z.object({ login: z.string(), type: z.string().default("User") }).nullish(),
});
export type GitHubApp = z.infer<typeof gitHubAppSchema>;

export const gitHubDeliverySchema = z.object({
  id: z.number().int(),
  /** Same value as the X-GitHub-Delivery header; a redelivery keeps it. */
  guid: z.string(),
  delivered_at: z.string(),
  redelivery: z.boolean(),
  status: z.string(),
  status_code: z.number().int(),
  event: z.string(),
  action: z.string().nullable(),
  installation_id: z.number().int().nullable(),
  repository_id: z.number().int().nullable(),
});
export type GitHubDelivery = z.infer<typeof gitHubDeliverySchema>;
