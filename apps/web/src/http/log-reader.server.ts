import { TowpathError } from "@towpath/core/errors";
import pg, { type Pool } from "pg";
import { services } from "~/compose.server.ts";

const queryCanceled = "57014";

/**
 * Reads the request log on its own few connections, each statement within a time limit, so that a slow question holds
 * up neither other pages nor more than its share of the database.
 *
 * @throws TowpathError `limit_reached` when the time limit ended a statement; the text says how to ask for less.
 */
export async function readRequestLogs<T>(read: (pool: Pool) => Promise<T>): Promise<T> {
  try {
    return await read(services().logReader.pool);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === queryCanceled)) throw error;
    throw new TowpathError(
      "limit_reached",
      "Reading the log took too long and was stopped. Choose a shorter time range, or search for a longer text.",
      { cause: error },
    );
  }
}
