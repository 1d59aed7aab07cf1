import { expect, test } from "vitest";
import { createTestDatabase } from "./test-database.ts";

test("a test database is migrated and empty", async () => {
  const database = await createTestDatabase();
  const tables = await database.pool.query(
    "SELECT count(*)::int AS n FROM information_schema.tables WHERE table_schema = 'public'",
  );
  expect(tables.rows[0].n).toBeGreaterThan(18);
  const today = await database.pool.query(
    "SELECT to_regclass('request_log_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')) AS partition",
  );
  expect(today.rows[0].partition).not.toBeNull();
  const [row] = await database.db.query.project.findMany();
  expect(row).toBeUndefined();
  await database.close();
});
