import { DatabaseSync } from "node:sqlite";
import { z } from "zod";

/** A repository of the local forge that earlier releases ran in GitHub's place. */
export type ForgeRepository = {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly defaultBranch: string;
  /** Whether `towpath deploy DIR` made it; null: made before that was recorded. */
  readonly madeByTerminal: boolean | null;
  readonly createdAt: string;
  /** Branch → head, as reported by the webhooks that arrived. */
  readonly reportedHeads: ReadonlyMap<string, string>;
  /** Titles of its open pull requests, with their numbers. */
  readonly openPulls: readonly string[];
};

export type Forge = {
  readonly repositories: readonly ForgeRepository[];
  /** The App on an account. */
  readonly installations: readonly { readonly id: number; readonly login: string }[];
  readonly accountIds: readonly number[];
};

const repositorySchema = z.object({
  id: z.number(),
  owner: z.string(),
  name: z.string(),
  default_branch: z.string(),
  // Absent in the first version of the schema.
  made_by: z.enum(["person", "terminal"]).nullable().default(null),
  created_at: z.string(),
});
const refSchema = z.object({ repository_id: z.number(), name: z.string(), sha: z.string() });
const pullSchema = z.object({ repository_id: z.number(), number: z.number(), title: z.string() });
const installationSchema = z.object({ id: z.number(), login: z.string() });
const accountSchema = z.object({ id: z.number() });
const deliverySchema = z.object({ body: z.string().transform((text): unknown => JSON.parse(text)) });

const pushSchema = z.object({
  ref: z.string().startsWith("refs/heads/"),
  before: z.string(),
  repository: z.object({ id: z.number() }),
});

/** An unprocessed push: the repository's number, the branch, and its head before. */
export type MissedPush = { readonly repositoryId: number; readonly branch: string; readonly before: string | null };

/** The push to a branch that a webhook reports; empty for another webhook. */
export function missedPush(payload: unknown): readonly MissedPush[] {
  const { data } = pushSchema.safeParse(payload);
  if (!data) return [];
  const before = /^0+$/.test(data.before) ? null : data.before;
  return [{ repositoryId: data.repository.id, branch: data.ref.slice("refs/heads/".length), before }];
}

/** Reads the forge's state, of any version of its schema. */
export function readForge(path: string): Forge {
  const sqlite = new DatabaseSync(path);
  const all = <Schema extends z.ZodType>(schema: Schema, sql: string): z.infer<Schema>[] =>
    sqlite
      .prepare(sql)
      .all()
      .map((row) => schema.parse(row));
  try {
    const owned = "SELECT repository.*, account.login AS owner FROM repository JOIN account ON account.id = owner_id";
    const refs = all(refSchema, "SELECT * FROM known_ref WHERE name LIKE 'refs/heads/%'");
    const pulls = all(pullSchema, "SELECT * FROM pull_request WHERE state = 'open' ORDER BY number");
    // Newest first: the head before the oldest missed push is the last processed one.
    const undelivered = "SELECT body FROM delivery WHERE event = 'push' AND state <> 'delivered' ORDER BY id DESC";
    const missed = all(deliverySchema, undelivered).flatMap(({ body }) => missedPush(body));
    return {
      repositories: all(repositorySchema, `${owned} ORDER BY repository.id`).map((row) => ({
        id: row.id,
        owner: row.owner,
        name: row.name,
        defaultBranch: row.default_branch,
        madeByTerminal: row.made_by && row.made_by === "terminal",
        createdAt: row.created_at,
        reportedHeads: withoutMissed(
          new Map(
            refs
              .filter((ref) => ref.repository_id === row.id)
              .map(({ name, sha }) => [name.slice("refs/heads/".length), sha]),
          ),
          missed.filter(({ repositoryId }) => repositoryId === row.id),
        ),
        openPulls: pulls
          .filter((pull) => pull.repository_id === row.id)
          .map(({ number, title }) => `#${number} ${title}`),
      })),
      installations: all(
        installationSchema,
        "SELECT installation.id, login FROM installation JOIN account ON account.id = account_id",
      ),
      accountIds: all(accountSchema, "SELECT id FROM account").map(({ id }) => id),
    };
  } finally {
    sqlite.close();
  }
}

/** Heads before unprocessed pushes. `missed`: newest first. */
export function withoutMissed(
  heads: ReadonlyMap<string, string>,
  missed: readonly MissedPush[],
): ReadonlyMap<string, string> {
  const seen = new Map(heads);
  for (const { branch, before } of missed) {
    if (before === null) seen.delete(branch);
    else seen.set(branch, before);
  }
  return seen;
}
