import type { DatabaseClient } from "@towpath/db";
import { digestOfLine, newestServerLines, type PrintedLine, unwrittenServerLogs } from "@towpath/logs";
import type { LastLines } from "@towpath/runtime";
import { type LineSpool, lastLinesOf } from "./line-spool.ts";
import type { ServerLine } from "./server-log.ts";

type Push = (row: ServerLine) => void;

/** What is known of the output of servers that an earlier runner has started. */
export type TakenOverLines = {
  /** By instance: the last lines that this directory's earlier runner has kept. */
  readonly last: ReadonlyMap<string, LastLines>;
  /** For an output that is read from its beginning again: passes on what isn't stored, and isn't about to be. */
  unlessStored(of: { readonly deploymentId: string; readonly instanceId: string }, push: Push): Promise<Push>;
};

/** Stored lines that are recognized one by one. */
const comparedLines = 1000;
/** Stored before these: they tell up to when all is stored. */
const earlierLines = 200;

/** Passes lines on that an earlier runner kept on disk and didn't store. */
export async function takeOverLines(
  pool: DatabaseClient["pool"],
  spool: Pick<LineSpool, "takeOver" | "release">,
  push: Push,
): Promise<TakenOverLines> {
  const kept: readonly ServerLine[] = spool.takeOver();
  const unwritten = new Set<ServerLine>(await unwrittenServerLogs(pool, kept));
  spool.release(kept.filter((row) => !unwritten.has(row)));
  for (const row of unwritten) push(row);
  const passedOn = Map.groupBy(unwritten, ({ instanceId }) => instanceId);
  return {
    last: lastLinesOf(kept),
    async unlessStored(of, pushNew) {
      const stored = await newestServerLines(pool, { ...of, limit: comparedLines + earlierLines });
      return unlessStored(pushNew, stored, passedOn.get(of.instanceId) ?? []);
    },
  };
}

/**
 * Skips lines of an output that are stored. They are recognized by stream, time and text. The newest of them wouldn't tell
 * which those are: the clock of a node may have been set back since, and a runner that was killed may have left lines out
 * before some that it, or another one, has stored.
 *
 * @param stored the one that was stored last first
 * @param passedOn of the same instance, on their way to the database or there
 */
function unlessStored(push: Push, stored: readonly PrintedLine[], passedOn: readonly ServerLine[]): Push {
  const compared = countsOf(stored.slice(0, comparedLines).map(keyOf));
  for (const [key, count] of countsOf(passedOn.map(keyOfRow)))
    compared.set(key, Math.max(count, compared.get(key) ?? 0));
  const storedUntil = Math.max(...stored.slice(comparedLines).map(({ time }) => time.getTime()));
  let isEarlier = Number.isFinite(storedUntil);
  return (row) => {
    // The driver's own lines are no part of the output that is read again.
    if (row.sequence === undefined) return push(row);
    const key = keyOfRow(row);
    const count = compared.get(key) ?? 0;
    if (count > 0) {
      if (count > 1) compared.set(key, count - 1);
      else compared.delete(key);
      // What follows was printed after all that is stored.
      if (compared.size === 0) isEarlier = false;
      return;
    }
    if (isEarlier && row.time.getTime() <= storedUntil) return;
    isEarlier = false;
    push(row);
  };
}

const keyOf = ({ stream, time, digest }: PrintedLine): string => `${stream} ${time.getTime()} ${digest}`;
const keyOfRow = ({ stream, time, line }: ServerLine): string => keyOf({ stream, time, digest: digestOfLine(line) });

function countsOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
