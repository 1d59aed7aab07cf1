import type { Lease } from "./instance-lease.ts";

/** Calls that a server gets at once when it has just started; each answer lets two more through. */
const firstCalls = 4;
/** Then all that still wait go. */
const rampMs = 2000;
/** A call that is answered by a stream, or slowly, holds others up for no longer. */
const maxHoldMs = 250;

/**
 * A server that has just started gets a few of the calls that waited for it, and more as it answers (GW-13): all at once
 * would meet cold caches and lazy imports, and be lost together if it doesn't stand that.
 */
export class SlowStart {
  readonly #gates = new WeakMap<Lease, Gate>();

  /** Null for a server that ran before, or for long enough by now: then its calls need no timers. */
  gateOf(lease: Lease): Gate | null {
    if (lease.start.outcome !== "started") return null;
    const known = this.#gates.get(lease);
    if (known) return known.isOpen ? null : known;
    const gate = new Gate();
    this.#gates.set(lease, gate);
    return gate;
  }
}

export class Gate {
  #free = firstCalls;
  #isOpen = false;
  readonly #waiting: (() => void)[] = [];

  constructor() {
    setTimeout(() => {
      this.#isOpen = true;
      for (const go of this.#waiting.splice(0)) go();
    }, rampMs).unref();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when a call may be sent; undefined: at once. Each must be reported by `answered` once. */
  enter(): Promise<void> | undefined {
    if (this.#isOpen) return undefined;
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    return promise;
  }

  /** Lets two more through. */
  answered(): void {
    this.#free += 2;
    for (; this.#free > 0 && this.#waiting.length > 0; this.#free--) this.#waiting.shift()?.();
  }
}

/** Reports a call to its gate at the beginning of its answer, at its end or after a while, whichever comes first. */
export function reportOnce(gate: Gate | null): () => void {
  if (gate === null) return () => {};
  let isReported = false;
  const report = () => {
    clearTimeout(timer);
    if (!isReported) gate.answered();
    isReported = true;
  };
  const timer = setTimeout(report, maxHoldMs).unref();
  return report;
}
