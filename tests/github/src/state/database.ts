import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { z } from "zod";

/** Times are ISO 8601 text or, where they are compared, milliseconds. Tokens and codes are kept as SHA-256 only. */
const tables = `
CREATE TABLE account (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  login TEXT NOT NULL UNIQUE COLLATE NOCASE,
  name TEXT,
  email TEXT,
  type TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE session (
  token_hash TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  expires_at_ms INTEGER NOT NULL
);
CREATE TABLE repository (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id INTEGER NOT NULL REFERENCES account(id),
  name TEXT NOT NULL COLLATE NOCASE,
  description TEXT,
  private INTEGER NOT NULL,
  default_branch TEXT NOT NULL,
  parent_id INTEGER REFERENCES repository(id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (owner_id, name)
);
CREATE TABLE known_ref (
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sha TEXT NOT NULL,
  PRIMARY KEY (repository_id, name)
);
CREATE TABLE installation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL UNIQUE REFERENCES account(id),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE TABLE installation_token (
  token_hash TEXT PRIMARY KEY,
  installation_id INTEGER NOT NULL REFERENCES installation(id) ON DELETE CASCADE,
  repository_ids TEXT,
  permissions TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
);
CREATE TABLE oauth_grant (
  account_id INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
  created_at TEXT NOT NULL
);
CREATE TABLE oauth_code (
  code_hash TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT,
  expires_at_ms INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE user_token (
  token_hash TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  code_hash TEXT,
  expires_at_ms INTEGER NOT NULL
);
CREATE TABLE pull_request (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  title TEXT NOT NULL,
  body TEXT,
  head_repository_id INTEGER REFERENCES repository(id) ON DELETE SET NULL,
  head TEXT NOT NULL,
  base TEXT NOT NULL,
  head_sha TEXT NOT NULL,
  base_sha TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
  author_id INTEGER NOT NULL REFERENCES account(id),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  closed_at TEXT,
  UNIQUE (repository_id, number)
);
CREATE TABLE annotation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX annotation_subject ON annotation (repository_id, kind, subject);
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  guid TEXT NOT NULL,
  event TEXT NOT NULL,
  action TEXT,
  installation_id INTEGER,
  repository_id INTEGER,
  body TEXT NOT NULL,
  redelivery INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at_ms INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  status_code INTEGER NOT NULL DEFAULT 0,
  delivered_at TEXT NOT NULL
);
CREATE INDEX delivery_due ON delivery (state, next_attempt_at_ms);
`;

/** The forge's state. Synchronous: each call is complete and on disk when it returns. */
export type Database = {
  /** The first row, or null. */
  get<Schema extends z.ZodType>(schema: Schema, sql: string, ...values: SQLInputValue[]): z.infer<Schema> | null;
  all<Schema extends z.ZodType>(schema: Schema, sql: string, ...values: SQLInputValue[]): z.infer<Schema>[];
  /** Returns the id of the inserted row, and how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): { id: number; changes: number };
  /** Runs a transaction. Must not await, because other requests would run inside it. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
};

/** Opens or creates the state. */
export function openDatabase(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const sqlite = new DatabaseSync(path);
  sqlite.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000",
  );
  if (sqlite.prepare("SELECT 1 FROM sqlite_schema").get() === undefined) sqlite.exec(tables);
  return {
    get(schema, sql, ...values) {
      const row = sqlite.prepare(sql).get(...values);
      return row === undefined ? null : schema.parse(row);
    },
    all: (schema, sql, ...values) =>
      sqlite
        .prepare(sql)
        .all(...values)
        .map((row) => schema.parse(row)),
    run(sql, ...values) {
      const { lastInsertRowid, changes } = sqlite.prepare(sql).run(...values);
      return { id: Number(lastInsertRowid), changes: Number(changes) };
    },
    transaction(work) {
      sqlite.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        sqlite.exec("COMMIT");
        return result;
      } catch (error) {
        // On a full disk SQLite has rolled back by itself.
        if (sqlite.isTransaction) sqlite.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => sqlite.close(),
  };
}

/** The time as in the state and the REST API: ISO 8601, seconds, UTC. */
export function timestamp(at: Date = new Date()): string {
  return at.toISOString().replace(/\.\d{3}Z$/, "Z");
}
