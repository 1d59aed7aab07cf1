import { TowpathError } from "@towpath/core/errors";
import type { Reader } from "@towpath/logs";
import pg from "pg";
import { services } from "~/compose.server.ts";

const queryCanceled = "57014";

/**
 * Runs queries of the request log on their own small pool with a statement timeout, so that a slow query neither blocks
 * other pages nor takes more than its share of the database.
 *
 * @throws TowpathError `limit_reached` after a timeout; the message says how to query less.
 */
export async function readRequestLogs<T>(read: (reader: Reader) => Promise<T>): Promise<T> {
  try {
    return await read(services().logReader);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === queryCanceled)) throw error;
    throw new TowpathError(
      "limit_reached",
      "Reading the log took too long and was stopped. Choose a shorter time range, or search for a longer text.",
      { cause: error },
    );
  }
}
