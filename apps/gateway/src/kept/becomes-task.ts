import { setTimeout as sleep } from "node:timers/promises";
import type { LiveCall } from "./live-call.ts";

/** A call whose client knows tasks becomes one if it lasts longer. */
const afterMs = 500;
/** Until a stream is between two events, or there is room. */
const againMs = 50;

type Becoming = {
  /** False: it may be a task of its server's own. */
  readonly mayBegin: () => boolean;
  readonly claim: () => Promise<boolean>;
  /** False: it can't, now. */
  readonly becomesTask: () => boolean;
  readonly onProblem: (error: unknown) => void;
};

/** Makes a call a task once it has lasted for a while: its row comes first. Abort it when the call has ended. */
export function becomesTaskLater(
  live: LiveCall,
  { mayBegin, claim, becomesTask, onProblem }: Becoming,
): AbortController {
  const over = new AbortController();
  const { signal } = over;
  const wait = (ms: number) => sleep(ms, undefined, { ref: false, signal });
  const become = async () => {
    await wait(afterMs);
    while (!mayBegin()) await wait(againMs);
    // A database that doesn't answer leaves it a call as any other.
    live.claimed ??= claim().catch((error: unknown) => {
      onProblem(error);
      return false;
    });
    if (!(await live.claimed)) return;
    while (!signal.aborted && !becomesTask()) await wait(againMs);
  };
  // It rejects when the call has ended first.
  void become().catch(() => {});
  return over;
}
