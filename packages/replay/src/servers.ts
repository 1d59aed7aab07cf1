import { type Answer, answerOf } from "./answer.ts";
import type { CallAnswer, ReplayInput, SampledCall } from "./types.ts";

/** Characters of all answers that are kept for the comparison, which bounds its memory. */
const allCharacters = 24_000_000;
const mostOfAnswer = 128_000;
const leastOfAnswer = 4_000;

/** Both servers of a replay: asks them until the time is over or the replay is ended, and counts. */
export class Servers {
  requests = 0;
  readonly #input: ReplayInput;
  readonly #begun = performance.now();
  readonly #timeOver = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal;
  readonly #ofAnswer: number;
  #order = 0;

  constructor(input: ReplayInput, calls: number) {
    this.#input = input;
    this.#timer = setTimeout(() => this.#timeOver.abort(), Math.min(input.budget.seconds * 1000, 2 ** 31 - 1));
    this.#signal = AbortSignal.any([input.signal, this.#timeOver.signal]);
    this.#ofAnswer = Math.min(mostOfAnswer, Math.max(leastOfAnswer, allCharacters / (5 * Math.max(1, calls))));
  }

  get seconds(): number {
    return (performance.now() - this.#begun) / 1000;
  }

  /** Why no server is asked any more. */
  get ended(): "ended" | "seconds" | null {
    if (this.#input.signal.aborted) return "ended";
    return this.#timeOver.signal.aborted || this.#input.budget.seconds <= 0 ? "seconds" : null;
  }

  /** Whether a share of the time is left. */
  hasTime(until: number): boolean {
    return this.ended === null && this.seconds < this.#input.budget.seconds * until;
  }

  /** @returns null where the replay ended before the answer came */
  async ask(side: "production" | "preview", call: SampledCall): Promise<Answer | null> {
    if (this.ended !== null) return null;
    this.requests += 1;
    const begun = performance.now();
    const failed = (error: unknown): CallAnswer => {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: "none", reason, ms: performance.now() - begun };
    };
    const server = this.#input[side];
    const asked = Promise.resolve().then(() => server(call, this.#signal));
    const answer = await Promise.race([asked.catch(failed), this.#untilEnded()]);
    if (answer === null || this.ended !== null) return null;
    this.#order += 1;
    return answerOf(answer, this.#order, this.#ofAnswer);
  }

  #endedEarly: Promise<null> | undefined;

  #untilEnded(): Promise<null> {
    this.#endedEarly ??= new Promise((resolve) => {
      if (this.#signal.aborted) resolve(null);
      this.#signal.addEventListener("abort", () => resolve(null), { once: true });
    });
    return this.#endedEarly;
  }

  close(): void {
    clearTimeout(this.#timer);
    // What is still under way has no reader.
    this.#timeOver.abort();
  }
}

/** Runs `work` for each item, at most `width` at once. */
export async function inPool<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(width, items.length)) }, worker));
}
