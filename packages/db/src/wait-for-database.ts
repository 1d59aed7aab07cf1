import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const firstPauseMs = 500;
const maxPauseMs = 5_000;
const connectWithinMs = 10_000;

/** A database that may answer later: nothing listens yet, its name is unknown yet, or it is starting. */
const transientCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
  // cannot_connect_now, too_many_connections
  "57P03",
  "53300",
]);

export type DatabaseWait = {
  /** Called when the wait begins and whenever its reason changes. `address` is without user and password. */
  readonly onWaiting: (address: string, reason: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Resolves once a database takes connections; false if the signal is aborted first.
 *
 * @throws Error that waiting doesn't fix, such as a wrong password
 */
export async function waitForDatabase(url: string, { onWaiting, signal }: DatabaseWait): Promise<boolean> {
  let reported = "";
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectWithinMs });
    client.on("error", () => {});
    const address = `${client.database} at ${client.host}${client.host.startsWith("/") ? "" : `:${client.port}`}`;
    try {
      await client.connect();
      await client.end();
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message || codeOf(error) : String(error);
      if (!isTransient(error)) throw new Error(`The database ${address} refuses: ${reason}`, { cause: error });
      if (reason !== reported) onWaiting(address, reason);
      reported = reason;
      await client.end().catch(() => {});
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return false;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** node-postgres has no codes for a connection that takes too long or closes before it is ready. */
const isTransient = (error: unknown): boolean =>
  transientCodes.has(codeOf(error)) ||
  (error instanceof Error && /timeout expired|Connection terminated/.test(error.message));
