import { expect, test } from "vitest";
import { openTestDatabase } from "./testing/test-database.ts";

const database = openTestDatabase();

test("LOG-5 every foreign key has an index that starts with its columns", async () => {
  const { rows } = await database.pool.query(
    `SELECT conrelid::regclass::text || '(' || string_agg(attname, ', ') || ')' AS missing
     FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
     WHERE contype = 'f' AND connamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = conrelid AND indpred IS NULL
         AND (indkey::int2[])[0:cardinality(conkey) - 1] @> conkey)
     GROUP BY conrelid, conname ORDER BY 1`,
  );
  expect(rows.map((row) => row.missing)).toEqual([]);
});

/** A query's plan, with sequential scans and sorts disabled. */
async function planOf(query: string): Promise<string> {
  const client = await database.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SET LOCAL enable_seqscan = off");
    await client.query("SET LOCAL enable_sort = off");
    const { rows } = await client.query(`EXPLAIN ${query}`);
    await client.query("ROLLBACK");
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  } finally {
    client.release();
  }
}

test("BLD-12 the sweep finds unprocessed deliveries by an index", async () => {
  const plan = await planOf(
    `SELECT id FROM webhook_delivery WHERE processed_at IS NULL
       AND received_at BETWEEN now() - interval '1 day' AND now() ORDER BY received_at LIMIT 100`,
  );
  expect(plan).toContain("webhook_delivery_open_index");
});
