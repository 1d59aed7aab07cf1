import { z } from "zod";
import { type Database, timestamp } from "./database.ts";
import { type Repository, repositoryRowSchema, selectRepository } from "./repositories.ts";

const selectionSchema = z.enum(["all", "selected"]);

const installationRowSchema = z.object({
  id: z.number(),
  account_id: z.number(),
  selection: selectionSchema,
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
export function installationOfRepository(database: Database, repository: Repository): Installation | null {
  const installation = installationOfAccount(database, repository.owner_id);
  return installation && coversRepository(database, installation, repository) ? installation : null;
}

export function coversRepository(database: Database, installation: Installation, repository: Repository): boolean {
  if (repository.owner_id !== installation.account_id) return false;
  if (installation.selection === "all") return true;
  const sql = "SELECT 1 FROM installation_repository WHERE installation_id = ? AND repository_id = ?";
  return database.get(z.unknown(), sql, installation.id, repository.id) !== null;
}

/** By name. */
export function repositoriesOfInstallation(database: Database, installation: Installation): Repository[] {
  if (installation.selection === "all") {
    const sql = `${selectRepository} WHERE owner_id = ? ORDER BY repository.name`;
    return database.all(repositoryRowSchema, sql, installation.account_id);
  }
  const sql = `${selectRepository} JOIN installation_repository AS chosen ON chosen.repository_id = repository.id
    WHERE chosen.installation_id = ? ORDER BY repository.name`;
  return database.all(repositoryRowSchema, sql, installation.id);
}

export type InstallationChoice = { selection: "all" } | { selection: "selected"; repositoryIds: readonly number[] };

/** Installs the App on the account or changes its repositories; ids of other accounts' repositories are ignored. */
export function saveInstallation(database: Database, accountId: number, choice: InstallationChoice): Installation {
  const now = timestamp();
  database.run(
    `INSERT INTO installation (account_id, selection, created_at, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id) DO UPDATE SET selection = excluded.selection, updated_at = excluded.updated_at`,
    accountId,
    choice.selection,
    now,
    now,
  );
  const installation = installationOfAccount(database, accountId);
  if (installation === null) throw new Error("an installation that was just written is gone");
  database.run("DELETE FROM installation_repository WHERE installation_id = ?", installation.id);
  for (const id of choice.selection === "selected" ? choice.repositoryIds : [])
    addToInstallation(database, installation, id);
  return installation;
}

/** Adds one of the account's repositories to an installation on selected ones. */
export function addToInstallation(database: Database, installation: Installation, repositoryId: number): void {
  database.run(
    `INSERT INTO installation_repository (installation_id, repository_id)
     SELECT ?, id FROM repository WHERE id = ? AND owner_id = ? ON CONFLICT DO NOTHING`,
    installation.id,
    repositoryId,
    installation.account_id,
  );
}

export function deleteInstallation(database: Database, id: number): void {
  database.run("DELETE FROM installation WHERE id = ?", id);
}
