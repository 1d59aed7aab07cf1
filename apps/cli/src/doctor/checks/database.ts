import { openDatabase } from "@towpath/db";
import { readAppliedSchema, thisRelease } from "@towpath/db/release";
import type { Facts } from "../facts.ts";
import { type Check, type Finding, fix, notNeeded, ok, reasonOf } from "../finding.ts";

type Pool = ReturnType<typeof openDatabase>["pool"];

const oldestMajor = 15;

/** Version, schema and rights of the database. */
export const database: Check = async ({ database, options }) => {
  if (database === null) return [notNeeded("database", "the embedded one, which ./towpath up starts")];
  const client = openDatabase(database.directUrl, { maxConnections: 1 });
  try {
    return [await versionFinding(client.pool), await schemaFinding(client.pool), await rightsFinding(client.pool)];
  } catch (error) {
    return [fix("database", reasonOf(error), remedyOf(options))];
  } finally {
    await client.close();
  }
};

const remedyOf = ({ databaseUrl, directDatabaseUrl }: Facts["options"]) => {
  if (databaseUrl === null) return "Look in the output of ./towpath up, and restart it.";
  return `Look at ${directDatabaseUrl === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL"}, and whether the database runs.`;
};

async function versionFinding(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<{ version: string }>("SELECT current_setting('server_version_num') AS version");
  const number = Number(rows[0]?.version ?? 0);
  const shown = `PostgreSQL ${Math.floor(number / 10_000)}.${number % 10_000}`;
  if (number >= oldestMajor * 10_000) return ok("database", shown);
  return fix("database", shown, `Upgrade it to PostgreSQL ${oldestMajor} or newer.`);
}

const forbidden = "42501";

async function schemaFinding(pool: Pool): Promise<Finding> {
  const applied = await readAppliedSchema(pool).catch((error: Error & { code?: unknown }) => error);
  if (applied instanceof Error) {
    if (applied.code !== forbidden) throw applied;
    const remedy =
      "Have the user who migrated it own the database's schemas, or use that user: public, drizzle and pgboss.";
    return fix("schema", reasonOf(applied), remedy);
  }
  if (applied === null) return ok("schema", "empty: ./towpath up, or ./towpath migrate, makes the tables");
  const by = applied.release ?? "a release that left no name";
  if (!applied.isNewer) return ok("schema", `of ${by}`);
  return fix(
    "schema",
    `of ${by}, which is newer than ${thisRelease()}`,
    "Start that release or a newer one, or restore a back-up from before the update.",
  );
}

const rightsQuery = `
  SELECT quote_ident(current_database()) AS database, quote_ident(current_user) AS "user",
    has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
    coalesce(has_schema_privilege(to_regnamespace('public'), 'CREATE'), false) AS "mayMakeTables",
    (SELECT coalesce(array_agg(needed), '{}') FROM unnest(ARRAY['pg_trgm', 'btree_gin']) AS needed
      WHERE needed NOT IN (SELECT extname FROM pg_extension)) AS "notCreated",
    (SELECT coalesce(array_agg(needed), '{}') FROM unnest(ARRAY['pg_trgm', 'btree_gin']) AS needed
      WHERE needed NOT IN (SELECT name FROM pg_available_extensions)) AS "notInstalled",
    (SELECT coalesce(array_agg(quote_ident(relname)), '{}') FROM pg_class
      WHERE relnamespace = to_regnamespace('public') AND relkind IN ('r', 'p') AND NOT (
        has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))) AS "closed"`;

type Rights = {
  readonly database: string;
  readonly user: string;
  readonly mayCreate: boolean;
  readonly mayMakeTables: boolean;
  readonly notCreated: readonly string[];
  readonly notInstalled: readonly string[];
  readonly closed: readonly string[];
};

/** The rights of the user to migrate and to use the tables. */
async function rightsFinding(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<Rights>(rightsQuery);
  const [rights] = rows;
  if (rights === undefined) throw new Error("The database returned no row.");
  const { database, user } = rights;
  const missing = rights.notInstalled.filter((extension) => rights.notCreated.includes(extension));
  const problems: readonly (readonly [is: boolean, detail: string, remedy: string])[] = [
    [
      missing.length > 0,
      `the extensions ${missing.join(" and ")} are not installed`,
      "Install PostgreSQL's contrib modules (apt-get install postgresql-contrib).",
    ],
    [
      !rights.mayCreate,
      `${user} may not create schemas and extensions`,
      `GRANT CREATE ON DATABASE ${database} TO ${user};`,
    ],
    [!rights.mayMakeTables, `${user} may not create tables`, `GRANT CREATE ON SCHEMA public TO ${user};`],
    [
      rights.closed.length > 0,
      `${user} may not read and write ${rights.closed.slice(0, 3).join(", ")}${rights.closed.length > 3 ? ", …" : ""}`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${user};`,
    ],
  ];
  const found = problems.filter(([is]) => is);
  if (found.length === 0) return ok("rights in the database", `${user} may create and change tables`);
  return fix(
    "rights in the database",
    found.map(([, detail]) => detail).join("; "),
    found.map(([, , remedy]) => remedy).join(" "),
  );
}
