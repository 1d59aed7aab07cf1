import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { openDatabase } from "@towpath/db";
import { type Check, type Finding, fix, notNeeded, ok, reasonOf } from "../finding.ts";

const arrivesWithinMs = 2_000;
const name = "pooler";

/** Whether a pooler answers, and LISTEN works past it: one in transaction mode takes it and passes no notification on. */
export const pooler: Check = async ({ options, database }) => {
  if (options.databaseUrl === null || database === null)
    return [notNeeded(name, "the embedded database has no pooler")];
  const variable = options.directDatabaseUrl === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL";
  const client = openDatabase(database.directUrl, { maxConnections: 2 });
  try {
    if (!(await passesNotifications(client.pool)))
      return [
        fix(
          name,
          `notifications don't arrive by ${variable}, which leads to a pooler in transaction mode`,
          "Set DATABASE_DIRECT_URL to the database's own address, past the pooler.",
        ),
      ];
    return [
      options.directDatabaseUrl === null
        ? ok(name, "none, or one that passes notifications on")
        : await answerOf(database.url),
    ];
  } catch (error) {
    // The check of the database reports it.
    return [notNeeded(name, `not tried: ${reasonOf(error)}`)];
  } finally {
    await client.close();
  }
};

async function answerOf(url: string): Promise<Finding> {
  const client = openDatabase(url, { maxConnections: 1 });
  try {
    await client.pool.query("SELECT 1");
    return ok(name, "answers; notifications arrive past it");
  } catch (error) {
    return fix(name, reasonOf(error), "Look at DATABASE_URL, and whether the pooler runs.");
  } finally {
    await client.close();
  }
}

async function passesNotifications(pool: ReturnType<typeof openDatabase>["pool"]): Promise<boolean> {
  const channel = `towpath_doctor_${randomBytes(6).toString("hex")}`;
  const listener = await pool.connect();
  try {
    const arrival = once(listener, "notification", { signal: AbortSignal.timeout(arrivesWithinMs) });
    arrival.catch(() => {});
    await listener.query(`LISTEN ${channel}`);
    await pool.query("SELECT pg_notify($1, '')", [channel]);
    return await arrival.then(
      () => true,
      () => false,
    );
  } finally {
    listener.release(true);
  }
}
