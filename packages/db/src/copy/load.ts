import { pipeline } from "node:stream/promises";
import { readMigrationFiles } from "drizzle-orm/migrator";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { migrationsDirectory, requireExtensions } from "../client.ts";
import { NewerSchema, recordRelease, thisRelease } from "../release.ts";
import type { DatabaseContent } from "./snapshot.ts";

/** A database can't take a copy. The message is for the operator. */
export class LoadRefused extends Error {
  override readonly name = "LoadRefused";
}

/** Everything is in one transaction: until `commit` resolves, the database is as empty as before. */
export type DatabaseLoad = {
  /** @throws LoadRefused for a table that isn't part of the content, or twice */
  table(name: string, rows: AsyncIterable<Uint8Array>): Promise<void>;
  /** @throws LoadRefused when a table is missing or its rows contradict others */
  commit(): Promise<void>;
  /** Undoes what wasn't committed. */
  close(): Promise<void>;
};

type Migration = ReturnType<typeof readMigrationFiles>[number];

/**
 * The migrations that make the schema of a copy.
 *
 * @throws NewerSchema for the copy of a newer release; LoadRefused for one that isn't in this release's history
 */
export function migrationsOf({ release, migrations, newestMigration }: DatabaseContent): readonly Migration[] {
  const own = readMigrationFiles({ migrationsFolder: migrationsDirectory });
  const found = own.filter(({ folderMillis }) => folderMillis <= newestMigration);
  const by = `${release ?? "a release that left no name"}; this is ${thisRelease()}`;
  if (newestMigration > (own.at(-1)?.folderMillis ?? 0))
    throw new NewerSchema(
      `It was made by a newer release of Towpath, ${by}. Nothing was changed. Restore it with that release or a newer one.`,
    );
  if (found.length !== migrations || found.at(-1)?.folderMillis !== newestMigration)
    throw new LoadRefused(`It was made by ${by}, whose database has another history. Nothing was changed.`);
  return found;
}

/**
 * Begins to fill an empty database: makes the schema that the copy had; `up` brings it up to date later.
 *
 * @throws LoadRefused when it isn't empty or another load is under way; and as `migrationsOf`
 */
export async function beginLoad(url: string, content: DatabaseContent): Promise<DatabaseLoad> {
  const migrations = migrationsOf(content);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 15_000 });
  client.on("error", () => {});
  await client.connect().catch((error: Error) => {
    throw new LoadRefused(`The database can't be used: ${error.message}. Nothing was changed.`, { cause: error });
  });
  try {
    await requireEmpty(client);
    await client.query("BEGIN");
    await makeSchema(client, migrations, content);
    const constraints = await dropForeignKeys(client);
    for (const { name } of content.tables)
      await client.query(`ALTER TABLE ${pg.escapeIdentifier(name)} DISABLE TRIGGER USER`);
    return loadInto(client, content, constraints);
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** The lock of migrations: an instance that starts on this database waits, or has it. */
async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ free: boolean }>(
    "SELECT pg_try_advisory_lock(hashtext('towpath_migrate')) AS free",
  );
  if (!rows[0]?.free) throw new LoadRefused("Another restore, or an instance that starts, is using the database.");
  const used = await client.query<{ name: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind IN ('r', 'p') AND nspname !~ '^pg_' AND nspname <> 'information_schema' LIMIT 1`,
  );
  if (used.rows[0])
    throw new LoadRefused(
      `The database is not empty: it has the table ${used.rows[0].name}. Nothing was changed. Create another one, and name it.`,
    );
}

async function makeSchema(
  client: pg.Client,
  migrations: readonly Migration[],
  content: DatabaseContent,
): Promise<void> {
  await requireExtensions(client);
  await client.query(
    "CREATE SCHEMA drizzle; CREATE TABLE drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)",
  );
  for (const { sql, hash, folderMillis } of migrations) {
    for (const statement of sql) await client.query(statement);
    await client.query("INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ($1, $2)", [
      hash,
      folderMillis,
    ]);
  }
  if (content.release !== null) await recordRelease(client, content.release);
  for (const day of content.days) await client.query("SELECT towpath_ensure_log_partitions($1::date)", [day]);
  // Some migrations add rows.
  await client.query(`TRUNCATE ${content.tables.map(({ name }) => pg.escapeIdentifier(name)).join(", ")} CASCADE`);
}

type Constraint = { readonly table: string; readonly name: string; readonly definition: string };

/** Tables come in any order, so rows are compared once all are there. */
async function dropForeignKeys(client: pg.Client): Promise<readonly Constraint[]> {
  const { rows } = await client.query<Constraint>(
    `SELECT conrelid::regclass::text AS "table", quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 AND connamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of rows) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  return rows;
}

function loadInto(client: pg.Client, content: DatabaseContent, constraints: readonly Constraint[]): DatabaseLoad {
  const missing = new Map(content.tables.map((table) => [table.name, table.columns]));
  return {
    async table(name, rows) {
      const columns = missing.get(name);
      if (columns === undefined) throw new LoadRefused(`The table ${name} is not part of the copy, or comes twice.`);
      missing.delete(name);
      const target = `${pg.escapeIdentifier(name)} (${columns.map(pg.escapeIdentifier).join(", ")})`;
      await pipeline(rows, client.query(copyFrom(`COPY ${target} FROM STDIN`)));
    },
    async commit() {
      const [lost] = missing.keys();
      if (lost !== undefined) throw new LoadRefused(`The table ${lost} is missing.`);
      for (const { name, last } of content.sequences)
        await client.query("SELECT setval(quote_ident($1)::regclass, $2)", [name, last]);
      for (const { name } of content.tables)
        await client.query(`ALTER TABLE ${pg.escapeIdentifier(name)} ENABLE TRIGGER USER`);
      for (const { table, name, definition } of constraints)
        await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
      await client.query("COMMIT");
      await client.query("ANALYZE");
    },
    close: () => client.end(),
  };
}
