import { BatchWriter, type ServerLogRow } from "@towpath/logs";
import type { LineSpool } from "./line-spool.ts";

const flushMs = 200;
const batchRows = 500;
const maxBufferedRows = 20_000;
const maxBufferedBytes = 64 * 1024 * 1024;

export type ServerLogWriter = {
  push(row: ServerLogRow): void;
  /** Lines since the start: in the database; lost, because the buffer had no room; refused by the database. */
  readonly counters: { readonly written: number; readonly dropped: number; readonly refused: number };
  /** Lines that wait. */
  readonly held: number;
  /** Writes the buffer; gives up after `withinMs`. */
  close(withinMs: number): Promise<void>;
};

/**
 * Writes server-log lines to the database in batches, each deployment's in order. While the database is unavailable,
 * lines are buffered up to a limit; then the oldest lines of the project with the most are dropped, and their number is
 * logged. `onError` is called when the database is unavailable and for each line that it rejects. The buffer is also in
 * the spool, for the runner after a killed one: the shim keeps only output that no runner has read.
 */
export function createServerLogWriter(
  write: (rows: readonly ServerLogRow[]) => Promise<void>,
  onError: (error: unknown) => void,
  spool: Pick<LineSpool, "keep" | "release" | "close">,
): ServerLogWriter {
  /** Lost lines that their log does not mention yet, by deployment. */
  const lost = new Map<string, number>();
  const counters = { written: 0, dropped: 0, refused: 0 };
  const lose = ({ deploymentId }: ServerLogRow) => void lost.set(deploymentId, (lost.get(deploymentId) ?? 0) + 1);

  const writer = new BatchWriter<ServerLogRow>({
    maxRows: maxBufferedRows,
    maxBytes: maxBufferedBytes,
    flushMs,
    batchRows,
    tenantOf: (row) => row.projectId,
    bytesOf: (row) => row.line.length + 256,
    async write(rows) {
      const mentioned = new Map<string, number>();
      const withLosses = rows.flatMap((row) => {
        const count = lost.get(row.deploymentId);
        if (count === undefined || mentioned.has(row.deploymentId)) return [row];
        mentioned.set(row.deploymentId, count);
        return [lossBefore(row, count), row];
      });
      await write(withLosses);
      counters.written += rows.length;
      for (const [deploymentId, count] of mentioned) {
        const since = (lost.get(deploymentId) ?? 0) - count;
        if (since > 0) lost.set(deploymentId, since);
        else lost.delete(deploymentId);
      }
    },
    onSettled: (rows) => spool.release(rows),
    onEvicted(row) {
      spool.release([row]);
      counters.dropped += 1;
      lose(row);
    },
    onRefused(row, error) {
      counters.refused += 1;
      lose(row);
      const message = `a log line of deployment ${row.deploymentId} was rejected by the database and dropped`;
      onError(new Error(message, { cause: error }));
    },
    onUnavailable: onError,
    onRecovered: () => {},
  });

  return {
    counters,
    get held() {
      return writer.size;
    },
    push(row) {
      spool.keep(row);
      writer.push(row);
    },
    async close(withinMs) {
      await writer.close(withinMs);
      spool.close();
    },
  };
}

function lossBefore(row: ServerLogRow, count: number): ServerLogRow {
  const lines = count === 1 ? "1 line was" : `${count} lines were`;
  return { ...row, stream: "platform", level: "warning", line: `… ${lines} lost while the log could not be written` };
}
