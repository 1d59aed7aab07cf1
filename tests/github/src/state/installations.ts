import { z } from "zod";
import { type Database, timestamp } from "./database.ts";
import { type Repository, repositoryRowSchema, selectRepository } from "./repositories.ts";

const installationRowSchema = z.object({
  id: z.number(),
  account_id: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
});
/** The App on one account. */
export type Installation = z.infer<typeof installationRowSchema>;

export function installationById(database: Database, id: number): Installation | null {
  return database.get(installationRowSchema, "SELECT * FROM installation WHERE id = ?", id);
}

export function installationOfAccount(database: Database, accountId: number): Installation | null {
  return database.get(installationRowSchema, "SELECT * FROM installation WHERE account_id = ?", accountId);
}

/** The installation that covers the repository, if any. */
export const installationOfRepository = (database: Database, repository: Repository): Installation | null =>
  installationOfAccount(database, repository.owner_id);

export const coversRepository = (installation: Installation, repository: Repository): boolean =>
  repository.owner_id === installation.account_id;

/** By name. */
export function repositoriesOfInstallation(database: Database, installation: Installation): Repository[] {
  const sql = `${selectRepository} WHERE owner_id = ? ORDER BY repository.name`;
  return database.all(repositoryRowSchema, sql, installation.account_id);
}

export function insertInstallation(database: Database, accountId: number): Installation {
  const sql = "INSERT INTO installation (account_id, created_at, updated_at) VALUES (?, ?2, ?2) RETURNING *";
  const row = database.get(installationRowSchema, sql, accountId, timestamp());
  if (row === null) throw new Error("an inserted installation did not come back");
  return row;
}

export function deleteInstallation(database: Database, id: number): void {
  database.run("DELETE FROM installation WHERE id = ?", id);
}
