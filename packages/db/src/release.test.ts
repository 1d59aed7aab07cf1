import { expect, test } from "vitest";
import journal from "../migrations/meta/_journal.json" with { type: "json" };
import { migrateDatabase } from "./client.ts";
import { NewerSchema, recordRelease, requireKnownSchema, thisRelease } from "./release.ts";
import { migrateOnlyTo, openTestDatabase } from "./testing/test-database.ts";

const database = openTestDatabase({ fresh: true });

/** As left by a newer release, whose migration is unknown here. */
async function migrateFurther(): Promise<void> {
  await recordRelease(database.pool, "9.9.0 (commit it's)");
  await database.pool.query(
    "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) SELECT 'x', max(created_at) + 1 FROM drizzle.__drizzle_migrations",
  );
}

test("OPS-3 data of a newer release is refused with the names of both, and nothing in it changes", async () => {
  await migrateFurther();
  for (const open of [() => requireKnownSchema(database.pool), () => migrateDatabase(database.url)]) {
    const error = await open().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NewerSchema);
    expect(String(error)).toContain("a newer release of Towpath, 9.9.0 (commit it's); this is");
    expect(String(error)).toContain(thisRelease());
  }
  const { rows } = await database.pool.query("SELECT obj_description('drizzle'::regnamespace) AS release");
  expect(rows).toEqual([{ release: "9.9.0 (commit it's)" }]);
});

test("OPS-3 a migration reports its first and last release and its steps; the next release sees its name", async () => {
  expect(thisRelease()).toMatch(new RegExp(`^\\d+\\.\\d+\\.\\d+ \\(.*schema ${journal.entries.at(-1)?.tag}\\)$`));
  await migrateOnlyTo(database, "0000_initial");
  const first = await migrateDatabase(database.url);
  expect(first).toEqual({ from: "schema 0000_initial", to: thisRelease(), applied: journal.entries.length - 1 });
  expect(await migrateDatabase(database.url)).toEqual({ from: thisRelease(), to: thisRelease(), applied: 0 });
  await database.pool.query("DROP SCHEMA public CASCADE; DROP SCHEMA drizzle CASCADE; CREATE SCHEMA public");
  expect(await requireKnownSchema(database.pool)).toBeNull();
  expect(await migrateDatabase(database.url)).toMatchObject({ from: null, applied: journal.entries.length });
});
