import { z } from "zod";
import { type Database, timestamp } from "./database.ts";

const pullRequestRowSchema = z.object({
  id: z.number(),
  repository_id: z.number(),
  number: z.number(),
  title: z.string(),
  body: z.string().nullable(),
  /** The repository of the head: this one or a fork; null once the fork was deleted. */
  head_repository_id: z.number().nullable(),
  /** Branch names. */
  head: z.string(),
  base: z.string(),
  head_sha: z.string(),
  base_sha: z.string(),
  state: z.enum(["open", "closed"]),
  author_id: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
  closed_at: z.string().nullable(),
});
export type PullRequest = z.infer<typeof pullRequestRowSchema>;

export const newPullRequestSchema = z.object({
  title: z.string().trim().min(1, "A pull request needs a title.").max(256, "A title has up to 256 characters."),
  body: z.string().max(65_536).nullable().default(null),
  head: z.string().min(1, "Choose the branch to merge."),
  base: z.string().min(1, "Choose the branch to merge into."),
});
export type NewPullRequest = z.infer<typeof newPullRequestSchema>;

/** Newest first. */
export function listPullRequests(database: Database, repositoryId: number): PullRequest[] {
  const sql = "SELECT * FROM pull_request WHERE repository_id = ? ORDER BY number DESC";
  return database.all(pullRequestRowSchema, sql, repositoryId);
}

export function findPullRequest(database: Database, repositoryId: number, number: number): PullRequest | null {
  const sql = "SELECT * FROM pull_request WHERE repository_id = ? AND number = ?";
  return database.get(pullRequestRowSchema, sql, repositoryId, number);
}

/** Open ones whose head is in the repository, for any base. `branch`: only those of this branch. */
export function openPullRequestsFrom(database: Database, headRepositoryId: number, branch?: string): PullRequest[] {
  const sql = "SELECT * FROM pull_request WHERE head_repository_id = ? AND head = ifnull(?, head) AND state = 'open'";
  return database.all(pullRequestRowSchema, sql, headRepositoryId, branch ?? null);
}

export function insertPullRequest(
  database: Database,
  input: NewPullRequest & {
    repositoryId: number;
    headRepositoryId: number;
    authorId: number;
    headSha: string;
    baseSha: string;
  },
): PullRequest {
  const now = timestamp();
  const row = database.get(
    pullRequestRowSchema,
    `INSERT INTO pull_request
       (repository_id, number, title, body, head_repository_id, head, base, head_sha, base_sha, state, author_id,
        created_at, updated_at)
     VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM pull_request WHERE repository_id = ?1),
       ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'open', ?9, ?10, ?10) RETURNING *`,
    input.repositoryId,
    input.title,
    input.body,
    input.headRepositoryId,
    input.head,
    input.base,
    input.headSha,
    input.baseSha,
    input.authorId,
    now,
  );
  if (row === null) throw new Error("an inserted pull request did not come back");
  return row;
}

type PullRequestChange = Partial<Pick<PullRequest, "state" | "head_sha">>;

export function updatePullRequest(database: Database, pull: PullRequest, change: PullRequestChange): PullRequest {
  const next = { ...pull, ...change };
  const now = timestamp();
  const closedAt = next.state === "open" ? null : (pull.closed_at ?? now);
  const row = database.get(
    pullRequestRowSchema,
    "UPDATE pull_request SET state = ?, head_sha = ?, updated_at = ?, closed_at = ? WHERE id = ? RETURNING *",
    next.state,
    next.head_sha,
    now,
    closedAt,
    pull.id,
  );
  if (row === null) throw new Error(`pull request ${pull.id} is gone`);
  return row;
}
