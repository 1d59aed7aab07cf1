import { execFileSync } from "node:child_process";
import manifest from "../../../package.json" with { type: "json" };
import journal from "../migrations/meta/_journal.json" with { type: "json" };

/** A pool or a connection of `pg`. */
type Queryable = {
  query<Row extends Record<string, unknown>>(text: string): Promise<{ rows: Row[] }>;
};

const newestKnown = Math.max(...journal.entries.map(({ when }) => when));
const schemaOf = (when: number) => journal.entries.find((entry) => entry.when === when)?.tag ?? null;

function commit(): string | null {
  try {
    const argv = ["-C", import.meta.dirname, "rev-parse", "--short=8", "HEAD"];
    return execFileSync("git", argv, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    // An archive of the sources has none.
    return null;
  }
}

/** A release: the version of the whole tree, the commit (null for sources without Git), and the newest migration. */
export type Release = { readonly version: string; readonly commit: string | null; readonly schema: string | null };

let known: Release | null = null;

/** The release of this process, as it was at the first call. */
export function currentRelease(): Release {
  known ??= { version: manifest.version, commit: commit(), schema: schemaOf(newestKnown) };
  return known;
}

/** Names this release, so that two checkouts of one version differ: `0.1.0 (commit 2420f951, schema 0038_callers)`. */
export function thisRelease(): string {
  const { version, commit, schema } = currentRelease();
  const parts = [commit && `commit ${commit}`, schema && `schema ${schema}`];
  return `${version} (${parts.filter(Boolean).join(", ")})`;
}

/** The state of a database's migrations. */
export type AppliedSchema = {
  readonly migrations: number;
  /** The release that migrated it last. Earlier ones left no name: then its schema; null for a newer one without. */
  readonly release: string | null;
  readonly isNewer: boolean;
};

/** Null for a database without our tables. */
export async function readAppliedSchema(db: Queryable): Promise<AppliedSchema | null> {
  const found = await db.query<{ table: string | null }>(`SELECT to_regclass('drizzle.__drizzle_migrations') AS table`);
  if (found.rows[0]?.table == null) return null;
  const { rows } = await db.query<{ migrations: number; newest: string | null; release: string | null }>(
    `SELECT count(*)::int AS migrations, max(created_at) AS newest,
       obj_description(to_regnamespace('drizzle'), 'pg_namespace') AS release
     FROM drizzle.__drizzle_migrations`,
  );
  const [row] = rows;
  if (row === undefined || row.newest === null) return null;
  const newest = Number(row.newest);
  const schema = schemaOf(newest);
  const release = row.release ?? (schema && `schema ${schema}`);
  return { migrations: row.migrations, release, isNewer: newest > newestKnown };
}

/** The name is part of the database, so that a dump contains it and it names the release for external ones, too. */
export async function recordRelease(db: Queryable, release: string): Promise<void> {
  await db.query(`COMMENT ON SCHEMA drizzle IS '${release.replaceAll("'", "''")}'`);
}

/** How many migrations of this release a database lacks. @throws NewerSchema */
export async function pendingMigrations(db: Queryable): Promise<number> {
  return journal.entries.length - ((await requireKnownSchema(db))?.migrations ?? 0);
}

/** A release must not work on data of a newer one. */
export class NewerSchema extends Error {
  override readonly name = "NewerSchema";
}

/** @throws NewerSchema that names both releases */
export async function requireKnownSchema(db: Queryable): Promise<AppliedSchema | null> {
  // Every process of an instance comes here at its start, and the checkout may change while it runs.
  currentRelease();
  const applied = await readAppliedSchema(db);
  if (!applied?.isNewer) return applied;
  throw new NewerSchema(
    `The database was last used by a newer release of Towpath, ${applied.release ?? "which left no name"}; this is ` +
      `${thisRelease()}. Nothing was changed. Start that release or a newer one, or restore a back-up from before the update.`,
  );
}
