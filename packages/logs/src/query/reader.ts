import type { Pool, QueryResult, QueryResultRow } from "pg";
import { inTransaction } from "../write/transaction.ts";

/** Reads the log: a pool, or one that limits each statement. */
export type Reader = {
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<QueryResult<Row>>;
};

/**
 * A reader whose statements PostgreSQL cancels after `timeoutMs`, with SQLSTATE 57014. A transaction around each sets
 * the limit: a transaction pooler shares connections, and refuses settings when they are opened.
 */
export const limitedReader = (pool: Pool, timeoutMs: number): Reader => ({
  query: (text, values) =>
    inTransaction(pool, async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      return client.query(text, values);
    }),
});
