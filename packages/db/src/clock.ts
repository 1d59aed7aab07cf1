import type pg from "pg";

/** Milliseconds. Services refuse what was signed at another time; the strictest allows a minute. */
export const maxSkewMs = 30_000;

type Asked = Pick<pg.Pool, "query">;

/** Milliseconds by which this machine's clock is ahead of the database's. */
export async function clockSkewMs(pool: Asked): Promise<number> {
  // Connects first: the time of an answer is read from the middle of its round trip.
  await pool.query("SELECT 1");
  const before = Date.now();
  const { rows } = await pool.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  return (before + Date.now()) / 2 - (rows[0]?.now.getTime() ?? before);
}

/**
 * A sentence with the remedy if the clocks differ by too much; null also while the database can't be asked, which others
 * report. `role`: of this process.
 */
export async function clockWarning(pool: Asked, role: string): Promise<string | null> {
  const skewMs = await clockSkewMs(pool).catch(() => 0);
  if (Math.abs(skewMs) <= maxSkewMs) return null;
  const relation = skewMs > 0 ? "ahead of" : "behind";
  return `The clock of the ${role}'s machine is ${Math.round(Math.abs(skewMs) / 1000)} s ${relation} the database's, so sign-ins and addresses of the bucket may be refused: synchronize both, for example by timedatectl set-ntp true.`;
}

/** Logs that warning, if there is one. Never rejects. */
export async function logClock(
  pool: Asked,
  role: string,
  log: { readonly warn: (message: string) => void },
): Promise<void> {
  const warning = await clockWarning(pool, role);
  if (warning !== null) log.warn(warning);
}
