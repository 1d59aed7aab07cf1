import type { Pool } from "pg";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { migrateDatabase } from "../client.ts";
import { NewerSchema } from "../release.ts";
import { createTestDatabase, migrateOnlyTo, openTestDatabase } from "../testing/test-database.ts";
import { beginLoad, type DatabaseLoad, type DatabaseSnapshot, openSnapshot } from "./index.ts";

const source = openTestDatabase();
beforeAll(async () => {
  await seed(source.pool);
});

const projectId = "0192a000-0000-7000-8000-000000000001";

/** An organization that refers to a later table by a project, and two days of logs. */
async function seed(pool: Pool): Promise<void> {
  await pool.query(
    `INSERT INTO organization (id, name, slug) VALUES ('0192a000-0000-7000-8000-000000000000', E'A\\tcme\\n\\\\', 'acme');
     INSERT INTO project (id, organization_id, name, entrypoint)
       VALUES ('${projectId}', '0192a000-0000-7000-8000-000000000000', 'sunny-days', '')`,
  );
  for (const day of [0, 1]) {
    await pool.query("SELECT towpath_ensure_log_partitions(current_date - $1::int)", [day]);
    await addLogs(pool, day);
  }
}

/** Its trigger writes rows of other tables, too. */
async function addLogs(pool: Pool, daysAgo: number): Promise<void> {
  await pool.query(
    `INSERT INTO request_log (id, time, organization_id, project_id, kind, http_method, http_status, is_error, outcome,
       duration_ms, request_bytes, response_bytes, principal)
     SELECT gen_random_uuid(), now() - $1 * interval '1 day', '0192a000-0000-7000-8000-000000000000', '${projectId}',
       'request', 'POST', 200, false, 'ok', 5, 10, 20, 'anonymous' FROM generate_series(1, 3)`,
    [daysAgo],
  );
  await pool.query(
    `INSERT INTO server_log (time, project_id, deployment_id, stream, level, line)
     VALUES (now() - $1 * interval '1 day', '${projectId}', gen_random_uuid(), 'stdout', 'info', 'ready')`,
    [daysAgo],
  );
}

const emptyDatabase = async () => {
  const database = await createTestDatabase({ isEmpty: true });
  onTestFinished(() => database.close());
  return database;
};

async function snapshotOf(url: string): Promise<DatabaseSnapshot> {
  const snapshot = await openSnapshot(url, "backup");
  onTestFinished(() => snapshot.close());
  return snapshot;
}

async function loadAll(snapshot: DatabaseSnapshot, load: DatabaseLoad): Promise<void> {
  for (const table of snapshot.content.tables) await load.table(table.name, snapshot.rows(table));
}

async function copyTo(url: string, snapshot: DatabaseSnapshot): Promise<void> {
  const load = await beginLoad(url, snapshot.content);
  try {
    await loadAll(snapshot, load);
    await load.commit();
  } finally {
    await load.close();
  }
}

/** A digest of each table's rows. */
async function rowsOf(pool: Pool, tables: readonly string[]): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const table of tables) {
    const { rows } = await pool.query(
      `SELECT count(*) || ' ' || md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) AS digest FROM "${table}" t`,
    );
    digests[table] = rows[0].digest;
  }
  return digests;
}

/** Everything that makes the schema work: constraints, triggers that are on, indexes, partitions. */
async function schemaOf(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `SELECT 'constraint' AS what, conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS definition
       FROM pg_constraint WHERE connamespace = 'public'::regnamespace
     UNION ALL SELECT 'trigger ' || tgenabled::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT 'index', indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT 'table', relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
     ORDER BY 1, 2`,
  );
  return rows;
}

test("OPS-3 OPS-8 a database is copied as of one moment, with its schema, while others write to it", async () => {
  const snapshot = await snapshotOf(source.url);
  const tables = snapshot.content.tables.map(({ name }) => name);
  const before = await rowsOf(source.pool, tables);
  expect(before.request_log).toMatch(/^6 /);
  await addLogs(source.pool, 0);
  const target = await emptyDatabase();
  await copyTo(target.url, snapshot);
  expect(await rowsOf(target.pool, tables)).toEqual(before);
  expect(await schemaOf(target.pool)).toEqual(await schemaOf(source.pool));
  // The next row gets a new number, and the triggers work again.
  await addLogs(target.pool, 0);
  const { rows } = await target.pool.query(
    "SELECT count(*)::int AS lines, count(DISTINCT id)::int AS ids FROM server_log",
  );
  expect(rows).toEqual([{ lines: 3, ids: 3 }]);
  expect(await migrateDatabase(target.url)).toMatchObject({ applied: 0 });
});

test.runIf(isThorough)("OPS-3 the copy of an earlier release is loaded as it was, and then migrated", async () => {
  const earlier = await createTestDatabase();
  onTestFinished(() => earlier.close());
  await migrateOnlyTo(earlier, "0040_build_worker");
  await seed(earlier.pool);
  const target = await emptyDatabase();
  await copyTo(target.url, await snapshotOf(earlier.url));
  expect((await migrateDatabase(target.url)).applied).toBeGreaterThan(10);
  expect(await schemaOf(target.pool)).toEqual(await schemaOf(source.pool));
  const { rows } = await target.pool.query("SELECT name FROM project");
  expect(rows).toEqual([{ name: "sunny-days" }]);
});

test.runIf(isThorough)(
  "OPS-3 a database that is in use, or not empty, takes no copy, nor one of a newer release",
  async () => {
    const { content } = await snapshotOf(source.url);
    await expect(beginLoad(source.url, content)).rejects.toThrow(
      /The database is not empty: it has the table \w+\.\w+\. Nothing was changed/,
    );
    await expect(beginLoad("postgresql://ada@127.0.0.1:1/towpath", content)).rejects.toThrow(
      "The database can't be used: connect ECONNREFUSED 127.0.0.1:1. Nothing was changed.",
    );
    const target = await emptyDatabase();
    const newer = {
      ...content,
      newestMigration: content.newestMigration + 1,
      migrations: content.migrations + 1,
      release: "9.9.0",
    };
    await expect(beginLoad(target.url, newer)).rejects.toThrow(NewerSchema);
    await expect(beginLoad(target.url, newer)).rejects.toThrow("a newer release of Towpath, 9.9.0; this is");
    await expect(beginLoad(target.url, { ...content, migrations: 3 })).rejects.toThrow("another history");
    const first = await beginLoad(target.url, content);
    await expect(beginLoad(target.url, content)).rejects.toThrow(
      "Another restore, or an instance that starts, is using the database",
    );
    await first.close();
    expect(await schemaOf(target.pool)).toEqual([]);
  },
);

async function* bytes(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

test.runIf(isThorough)(
  "OPS-3 rows that contradict each other, are missing or unreadable leave the database empty",
  async () => {
    const snapshot = await snapshotOf(source.url);
    const target = await emptyDatabase();
    const attempt = async (work: (load: DatabaseLoad) => Promise<void>) => {
      const load = await beginLoad(target.url, snapshot.content);
      await work(load).finally(() => load.close());
    };
    const member = snapshot.content.tables.find(({ name }) => name === "member");
    const stranger = (member?.columns ?? []).map((column) =>
      /id$/.test(column) ? crypto.randomUUID() : column === "role" ? "owner" : "2026-01-01",
    );
    await expect(
      attempt(async (load) => {
        for (const table of snapshot.content.tables)
          await load.table(table.name, table === member ? bytes(`${stranger.join("\t")}\n`) : snapshot.rows(table));
        await load.commit();
      }),
    ).rejects.toThrow("violates foreign key constraint");
    await expect(attempt((load) => load.commit())).rejects.toThrow("is missing");
    await expect(attempt((load) => load.table("pg_authid", bytes("")))).rejects.toThrow("not part of the copy");
    await expect(attempt((load) => load.table("project", bytes("half a row")))).rejects.toThrow("invalid input syntax");
    expect(await schemaOf(target.pool)).toEqual([]);
  },
);
