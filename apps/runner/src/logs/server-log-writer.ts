import type { ServerLogRow } from "@towpath/logs";

const flushMs = 200;
const rowsPerBatch = 500;
const mostHeldRows = 20_000;
const retryMs = 1000;

type Dropped = { readonly first: ServerLogRow; readonly count: number };

export type ServerLogWriter = {
  push(row: ServerLogRow): void;
  /** Writes what is held; gives up after `withinMs`. */
  close(withinMs: number): Promise<void>;
};

/**
 * Batches server-log lines into the database, in order. While it is away lines are held up to a bound; then the
 * oldest are dropped and counted in a line of the platform.
 */
export function createServerLogWriter(
  write: (rows: readonly ServerLogRow[]) => Promise<void>,
  onError: (error: unknown) => void,
): ServerLogWriter {
  let held: ServerLogRow[] = [];
  let dropped: Dropped | null = null;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let closed = false;

  const later = (ms: number) => {
    if (timer !== null || closed) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, ms);
    timer.unref();
  };
  const flush = (): Promise<void> => {
    writing ??= drain().finally(() => {
      writing = null;
    });
    return writing;
  };
  const drain = async () => {
    while (held.length > 0) {
      const note = dropped;
      dropped = null;
      const batch = held.splice(0, rowsPerBatch);
      try {
        await write(note === null ? batch : [dropNote(note), ...batch]);
      } catch (error) {
        held = [...batch, ...held];
        if (note !== null) remember(note.first, note.count);
        trim();
        onError(error);
        later(retryMs);
        return;
      }
    }
  };
  const remember = (first: ServerLogRow, count: number) => {
    dropped = { first: dropped?.first ?? first, count: (dropped?.count ?? 0) + count };
  };
  const trim = () => {
    if (held.length <= mostHeldRows) return;
    const lost = held.splice(0, held.length - mostHeldRows);
    remember(lost[0] as ServerLogRow, lost.length);
  };
  return {
    push(row) {
      held.push(row);
      trim();
      if (held.length >= rowsPerBatch && writing === null && timer === null) void flush();
      else later(flushMs);
    },
    async close(withinMs) {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, withinMs).unref());
      await Promise.race([flush(), deadline]);
    },
  };
}

function dropNote(dropped: Dropped): ServerLogRow {
  return {
    ...dropped.first,
    stream: "platform",
    level: "warning",
    line: `… ${dropped.count} lines were lost while the log could not be written`,
  };
}
