import type { BuildLogSink } from "@towpath/builder";
import type { BuildLogLine } from "@towpath/core/delivery/build/contract";
import { appendBuildLog } from "@towpath/logs";
import type { Pool } from "pg";

export type BuildLogWriter = {
  readonly log: BuildLogSink;
  /** Writes everything logged so far; resolves when it is stored. */
  flush(): Promise<void>;
};

const flushEveryMs = 100;
/** While the database is unreachable, lines above this are dropped and counted. */
const maxWaitingLines = 5_000;

export type BuildLogTarget = {
  readonly pool: Pool;
  readonly buildId: string;
  readonly attempt: number;
  /** Another attempt has taken over the build; this writer stops. */
  readonly onLost: () => void;
  readonly onProblem: (problem: unknown) => void;
};

/** Writes a build's log lines in order, in a batch every 100 ms. A short outage of the database loses none. */
export function createBuildLogWriter(target: BuildLogTarget): BuildLogWriter {
  let waiting: BuildLogLine[] = [];
  let dropped = 0;
  let lost = false;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const schedule = (): Promise<void> => {
    writing = writing.then(write);
    return writing;
  };
  async function write(): Promise<void> {
    if (lost || waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    try {
      const { written } = await appendBuildLog(target.pool, target, withDropped(batch));
      if (written) return;
      lost = true;
      target.onLost();
    } catch (problem) {
      waiting = [...batch, ...waiting];
      target.onProblem(problem);
    }
  }
  function withDropped(batch: readonly BuildLogLine[]): readonly BuildLogLine[] {
    const last = batch.at(-1);
    if (dropped === 0 || !last) return batch;
    const text = `${dropped} lines were left out here.`;
    dropped = 0;
    return [...batch.slice(0, -1), { ...last, kind: "warning", text }, last];
  }

  return {
    log(phase, kind, text) {
      if (lost) return;
      if (waiting.length >= maxWaitingLines) {
        waiting.pop();
        dropped++;
      }
      waiting.push({ time: new Date(), phase, kind, text });
      timer ??= setTimeout(() => {
        timer = null;
        void schedule();
      }, flushEveryMs);
    },
    async flush() {
      if (timer) clearTimeout(timer);
      timer = null;
      await schedule();
      // Again, for a batch that a failed write put back.
      if (waiting.length > 0) await schedule();
    },
  };
}
