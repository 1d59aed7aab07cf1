import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { z } from "zod";
import { tables } from "./tables.ts";

/** The forge's state. Synchronous: each call is done, and on disk, when it returns. */
export type Database = {
  /** The first row, or null. */
  get<Schema extends z.ZodType>(schema: Schema, sql: string, ...values: SQLInputValue[]): z.infer<Schema> | null;
  all<Schema extends z.ZodType>(schema: Schema, sql: string, ...values: SQLInputValue[]): z.infer<Schema>[];
  /** Returns the id of the inserted row, and how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): { id: number; changes: number };
  /** All or nothing. Must not await: other requests would run inside. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
};

const schemaVersion = 2;

/** SQL that upgrades the state of each earlier version to the next. */
const upgrades: Readonly<Record<number, string>> = {
  1: "ALTER TABLE repository ADD COLUMN made_by TEXT CHECK (made_by IN ('person', 'terminal'));",
};

/** Opens or creates the state. Throws one clear sentence for a state of another version. */
export function openDatabase(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const sqlite = new DatabaseSync(path);
  // FULL: a push that was answered survives a power cut, and with it its webhook.
  sqlite.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000",
  );
  const version = Number(sqlite.prepare("PRAGMA user_version").get()?.user_version);
  if (version > schemaVersion) {
    sqlite.close();
    throw new Error(`The forge's state (${path}) has version ${version}; this program knows version ${schemaVersion}.`);
  }
  if (version === 0) sqlite.exec(`BEGIN; ${tables} PRAGMA user_version = ${schemaVersion}; COMMIT`);
  for (let from = Math.max(version, 1); version > 0 && from < schemaVersion; from++) {
    sqlite.exec(`BEGIN; ${upgrades[from]} PRAGMA user_version = ${from + 1}; COMMIT`);
  }

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
        sqlite.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => sqlite.close(),
  };
}

/** The time as the state and the REST answers write it: ISO 8601, seconds, UTC. */
export function timestamp(at: Date = new Date()): string {
  return at.toISOString().replace(/\.\d{3}Z$/, "Z");
}
