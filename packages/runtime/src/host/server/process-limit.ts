import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessUse } from "../process/running-process.ts";

/** How long a server may be stuck at its limit, milliseconds. */
const stuckMs = 10_000;
const lookEveryMs = 2000;
const probePauseMs = 200;
/** More refusals a second than this come from a loop that starts processes without a check. */
const maxRefusedPerSecond = 10;

export type ProcessLimitParts = {
  /** Null where the host doesn't enforce the limit. */
  readonly use: () => Promise<ProcessUse | null>;
  /** Whether the server answers before the signal aborts. */
  readonly answers: (signal: AbortSignal) => Promise<boolean>;
  /** A frozen server neither answers nor starts anything. */
  readonly isFrozen: () => boolean;
  /** Called once. */
  readonly onStuck: () => void;
};

/**
 * Detects a server that is stuck at its limit of processes and threads: it doesn't answer for ten seconds, or keeps
 * starting processes for as long, which takes all of its processor time. A server at its limit that answers is left
 * alone. Returns a function that ends the watch.
 */
export function watchProcessLimit(parts: ProcessLimitParts): () => void {
  const ending = new AbortController();
  void watch(parts, ending.signal);
  return () => ending.abort();
}

async function watch({ use, answers, isFrozen, onStuck }: ProcessLimitParts, ended: AbortSignal): Promise<void> {
  const finder = new StuckFinder();
  let probe: AbortController | null = null;
  for (; !ended.aborted; await pause(lookEveryMs, ended)) {
    const found = isFrozen() ? null : await use();
    const state = isFrozen() || found === null ? "fine" : finder.look(found, performance.now());
    if (state === "fine") {
      finder.reset();
      probe?.abort();
      probe = null;
    } else if (state === "stuck" || finder.isUnanswered(performance.now())) {
      if (!ended.aborted) onStuck();
      break;
    } else if (probe === null) {
      const started = new AbortController();
      probe = started;
      finder.asked(performance.now());
      void untilAnswered(answers, AbortSignal.any([ended, started.signal])).then((hasAnswered) => {
        if (probe !== started) return;
        probe = null;
        if (hasAnswered) finder.answered();
      });
    }
  }
  probe?.abort();
}

async function untilAnswered(answers: ProcessLimitParts["answers"], signal: AbortSignal): Promise<boolean> {
  for (; !signal.aborted; await pause(probePauseMs, signal)) if (await answers(signal)) return true;
  return false;
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});

/** Decides by observations over time. Times in milliseconds of any clock; no side effects. */
export class StuckFinder {
  #refused: number | null = null;
  #lookedAt = 0;
  #floodedSince: number | null = null;
  #askedAt: number | null = null;

  /** `pressed`: at its limit, so find out whether it answers. */
  look({ used, limit, refused }: ProcessUse, now: number): "fine" | "pressed" | "stuck" {
    const more = this.#refused === null ? 0 : refused - this.#refused;
    const isFlood = more > 0 && more >= ((now - this.#lookedAt) / 1000) * maxRefusedPerSecond;
    this.#refused = refused;
    this.#lookedAt = now;
    this.#floodedSince = isFlood ? (this.#floodedSince ?? now) : null;
    if (this.#floodedSince !== null && now - this.#floodedSince >= stuckMs) return "stuck";
    return used >= limit || more > 0 ? "pressed" : "fine";
  }

  asked(now: number): void {
    this.#askedAt = now;
  }

  answered(): void {
    this.#askedAt = null;
  }

  isUnanswered(now: number): boolean {
    return this.#askedAt !== null && now - this.#askedAt >= stuckMs;
  }

  /** It is frozen, or below its limit. The count of refusals stays. */
  reset(): void {
    this.#floodedSince = null;
    this.#askedAt = null;
  }
}
