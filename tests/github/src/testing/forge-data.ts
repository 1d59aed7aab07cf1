import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { git } from "./test-forge.ts";

/*
 * The state of earlier releases' local forge in the data directory. Their code is gone, so their schema is here.
 */

const schema = `
CREATE TABLE account (
  id INTEGER PRIMARY KEY AUTOINCREMENT, login TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT, email TEXT,
  created_at TEXT NOT NULL
);
CREATE TABLE repository (
  id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL REFERENCES account(id), name TEXT NOT NULL COLLATE NOCASE,
  description TEXT, private INTEGER NOT NULL, default_branch TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, UNIQUE (owner_id, name)
);
CREATE TABLE known_ref (
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE, name TEXT NOT NULL, sha TEXT NOT NULL,
  PRIMARY KEY (repository_id, name)
);
CREATE TABLE installation (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INTEGER NOT NULL UNIQUE REFERENCES account(id), selection TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE TABLE pull_request (
  id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  number INTEGER NOT NULL, title TEXT NOT NULL, body TEXT, head TEXT NOT NULL, base TEXT NOT NULL, head_sha TEXT NOT NULL,
  base_sha TEXT NOT NULL, state TEXT NOT NULL, author_id INTEGER NOT NULL REFERENCES account(id),
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, closed_at TEXT, UNIQUE (repository_id, number)
);
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL, event TEXT NOT NULL, action TEXT, installation_id INTEGER,
  repository_id INTEGER, body TEXT NOT NULL, redelivery INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at_ms INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'pending',
  status_code INTEGER NOT NULL DEFAULT 0, delivered_at TEXT NOT NULL
);`;

/** Columns and tables of later versions. */
const additions = `
ALTER TABLE repository ADD COLUMN made_by TEXT CHECK (made_by IN ('person', 'terminal'));
ALTER TABLE repository ADD COLUMN parent_id INTEGER REFERENCES repository(id) ON DELETE SET NULL;
ALTER TABLE pull_request ADD COLUMN head_repository_id INTEGER REFERENCES repository(id) ON DELETE SET NULL;`;

export type ForgeData = {
  /** The version of the schema; default: the last one. */
  readonly version?: 1 | 3;
  readonly accounts: readonly { readonly id: number; readonly login: string; readonly installationId: number | null }[];
  readonly repositories: readonly {
    readonly id: number;
    readonly ownerId: number;
    readonly name: string;
    readonly madeBy: "person" | "terminal" | null;
    /** A directory with a repository whose branches it gets; null: it is empty. */
    readonly from: string | null;
    readonly openPulls?: readonly string[];
  }[];
  /** Pushes of branches whose webhooks were not delivered, in order. */
  readonly undelivered?: readonly { readonly repositoryId: number; readonly branch: string; readonly before: string }[];
};

const at = "2026-11-01T00:00:00Z";

/** Writes the directory `forge` of a data directory, with real repositories. */
export async function writeForgeData(dataDirectory: string, data: ForgeData): Promise<void> {
  const directory = join(dataDirectory, "forge");
  await mkdir(join(directory, "repositories"), { recursive: true });
  const sqlite = new DatabaseSync(join(directory, "forge.sqlite"));
  const { version = 3 } = data;
  sqlite.exec(
    `PRAGMA journal_mode = WAL; ${schema} ${version === 3 ? additions : ""} PRAGMA user_version = ${version}`,
  );
  const insert = (table: string, row: Readonly<Record<string, string | number | null>>) => {
    const names = Object.keys(row);
    sqlite
      .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
      .run(...Object.values(row));
  };
  for (const { id, login, installationId } of data.accounts) {
    insert("account", { id, login, created_at: at });
    const installed = { account_id: id, selection: "all", created_at: at, updated_at: at };
    if (installationId !== null) insert("installation", { id: installationId, ...installed });
  }
  for (const { id, ownerId, name, madeBy, from, openPulls = [] } of data.repositories) {
    const made: Record<string, string | null> = version === 3 ? { made_by: madeBy } : {};
    const row = { id, owner_id: ownerId, name, private: 0, default_branch: "main", created_at: at, updated_at: at };
    insert("repository", { ...row, ...made });
    const refs = from === null ? [] : await copyRepository(from, join(directory, "repositories", `${id}.git`));
    for (const [ref, sha] of refs) insert("known_ref", { repository_id: id, name: ref, sha });
    const pull = { repository_id: id, head: "main", base: "main", head_sha: "", base_sha: "", state: "open" };
    for (const [index, title] of openPulls.entries())
      insert("pull_request", { ...pull, number: index + 1, title, author_id: ownerId, created_at: at, updated_at: at });
  }
  for (const { repositoryId, branch, before } of data.undelivered ?? []) {
    const body = JSON.stringify({ ref: `refs/heads/${branch}`, before, repository: { id: repositoryId } });
    const delivery = { guid: "g", event: "push", state: "pending", next_attempt_at_ms: 0, delivered_at: at };
    insert("delivery", { ...delivery, body });
  }
  sqlite.close();
}

/** Returns its branches and their heads. */
async function copyRepository(from: string, to: string): Promise<readonly [string, string][]> {
  await git(from, "clone", "--quiet", "--bare", from, to);
  await git(to, "update-ref", "refs/pull/1/head", "HEAD");
  const text = await git(to, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads");
  return text
    .trim()
    .split("\n")
    .map((line) => line.split(" ") as [string, string]);
}
