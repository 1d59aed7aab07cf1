import { z } from "zod";
import { type Database, timestamp } from "./database.ts";

export const repositoryRowSchema = z.object({
  id: z.number(),
  owner_id: z.number(),
  owner: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  private: z.number().transform((value) => value === 1),
  default_branch: z.string(),
  /** The repository that it was forked from; null if it is no fork, or the parent was deleted. */
  parent_id: z.number().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Repository = z.infer<typeof repositoryRowSchema>;

/** GitHub's rule for repository names. `.git` would be cut off by git clients. */
export const repositoryNameSchema = z
  .string()
  .trim()
  .min(1, "Choose a name for the repository.")
  .max(100, "A repository name has up to 100 characters.")
  .regex(/^[A-Za-z0-9._-]+$/, "A repository name has only letters, digits, '-', '_' and '.'.")
  .refine((name) => name !== "." && name !== ".." && !/\.(git|wiki)$/i.test(name), "This name is reserved.");

export const selectRepository =
  "SELECT repository.*, account.login AS owner FROM repository JOIN account ON account.id = repository.owner_id";

export function findRepository(database: Database, owner: string, name: string): Repository | null {
  const sql = `${selectRepository} WHERE account.login = ? AND repository.name = ?`;
  return database.get(repositoryRowSchema, sql, owner, name);
}

export function repositoryById(database: Database, id: number): Repository | null {
  return database.get(repositoryRowSchema, `${selectRepository} WHERE repository.id = ?`, id);
}

/** The account's fork of a repository. */
export function findFork(database: Database, parentId: number, ownerId: number): Repository | null {
  const sql = `${selectRepository} WHERE parent_id = ? AND owner_id = ?`;
  return database.get(repositoryRowSchema, sql, parentId, ownerId);
}

export type NewRepositoryRow = {
  ownerId: number;
  name: string;
  description: string | null;
  private: boolean;
  parent?: Repository;
};

/** Null if the account has a repository of this name (case-insensitive). */
export function insertRepository(database: Database, input: NewRepositoryRow): Repository | null {
  const now = timestamp();
  const { id, changes } = database.run(
    `INSERT INTO repository
       (owner_id, name, description, private, default_branch, parent_id, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    input.ownerId,
    input.name,
    input.description,
    input.private ? 1 : 0,
    input.parent?.default_branch ?? "main",
    input.parent?.id ?? null,
    now,
    now,
  );
  return changes === 0 ? null : repositoryById(database, id);
}

/** False if the account has another repository of this name. */
export function renameRepository(database: Database, id: number, name: string): boolean {
  const sql = "UPDATE OR IGNORE repository SET name = ?, updated_at = ? WHERE id = ?";
  return database.run(sql, name, timestamp(), id).changes === 1;
}

export function setDefaultBranch(database: Database, id: number, branch: string): void {
  database.run("UPDATE repository SET default_branch = ?, updated_at = ? WHERE id = ?", branch, timestamp(), id);
}

export function touchRepository(database: Database, id: number): void {
  database.run("UPDATE repository SET updated_at = ? WHERE id = ?", timestamp(), id);
}

const knownRefSchema = z.object({ name: z.string(), sha: z.string() });

/** The refs as last sent by webhook, full name → sha. */
export function knownRefs(database: Database, repositoryId: number): Map<string, string> {
  const rows = database.all(knownRefSchema, "SELECT name, sha FROM known_ref WHERE repository_id = ?", repositoryId);
  return new Map(rows.map((row) => [row.name, row.sha]));
}

/** `sha` is null if the ref is gone. */
export function setKnownRef(database: Database, repositoryId: number, name: string, sha: string | null): void {
  if (sha === null) {
    database.run("DELETE FROM known_ref WHERE repository_id = ? AND name = ?", repositoryId, name);
    return;
  }
  database.run(
    "INSERT INTO known_ref (repository_id, name, sha) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET sha = excluded.sha",
    repositoryId,
    name,
    sha,
  );
}
