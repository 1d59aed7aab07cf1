import type { Exchange } from "./exchange.ts";
import { captureBytes } from "./redact.ts";

/** Time that a client has to resume a stream: SDKs try within a second or two, and give up before this. */
const resumeWithinMs = 30_000;
const maxHeld = 2000;

/**
 * Legacy calls without an answer, by session. Another request may decide how one ends: a client cancels by a message,
 * and resumes a stream that ended early by a GET with Last-Event-ID. The row of a call whose stream ended early waits until
 * the answer has come or the time for that is over, so that one row says how the call went and how long it took.
 */
export class PendingCalls {
  readonly #byId = new Map<string, Exchange>();
  /** Calls whose stream has ended, with the timer that ends the wait. The oldest come first. */
  readonly #held = new Map<Exchange, NodeJS.Timeout>();
  readonly #onSettled: (exchange: Exchange) => void;
  readonly #onCanceledElsewhere: ((session: string, requestId: string | number) => Promise<unknown>) | undefined;
  readonly #maxHeld: number;

  /** `onSettled` gets each call whose row had to wait, once. */
  constructor(
    onSettled: (exchange: Exchange) => void,
    options: {
      /** The part of the bound that is this process's. */
      share?: number;
      /** Called when a client cancels a call that is not known here: another worker may be forwarding it. */
      onCanceledElsewhere?: (session: string, requestId: string | number) => Promise<unknown>;
    } = {},
  ) {
    this.#onSettled = onSettled;
    this.#onCanceledElsewhere = options.onCanceledElsewhere;
    this.#maxHeld = Math.ceil(maxHeld * (options.share ?? 1));
  }

  /** Calls that have no answer yet. */
  get size(): number {
    return this.#byId.size;
  }

  /**
   * Counts a call as unanswered while `forward` forwards it, however that ends. Resolves to true when the row of the
   * call must wait because its answer may come on another stream.
   */
  async track(exchange: Exchange, forward: () => Promise<void>): Promise<boolean> {
    this.#enter(exchange);
    let mustWait = false;
    try {
      // Before it is forwarded: the server may end the canceled call at once.
      if (this.#onCanceledElsewhere) await this.#announceCancels(exchange, this.#onCanceledElsewhere);
      await forward();
      mustWait = isAwaited(exchange);
    } finally {
      exchange.endedAt = performance.now();
      this.take(exchange);
      for (const held of exchange.resumes ?? []) if (this.#held.has(held)) this.#hold(held);
      if (!mustWait) this.#forget(exchange);
    }
    if (!mustWait) return false;
    this.#hold(exchange);
    const oldest = this.#held.keys().next().value;
    if (this.#held.size > this.#maxHeld && oldest) this.#settle(oldest);
    return true;
  }

  /** A client has canceled a call. False when it is not known here. */
  cancel(session: string, requestId: string | number): boolean {
    const call = this.#byId.get(keyOf(session, requestId));
    if (!call) return false;
    call.canceled ??= new Set();
    call.canceled.add(requestId);
    call.onCanceled?.();
    return true;
  }

  async #announceCancels(
    { session, peek }: Exchange,
    tell: (session: string, requestId: string | number) => Promise<unknown>,
  ): Promise<void> {
    if (session === null) return;
    for (const { cancels } of peek.messages) {
      if (cancels !== null && !this.#byId.has(keyOf(session, cancels))) await tell(session, cancels);
    }
  }

  #enter(exchange: Exchange): void {
    const { session, peek } = exchange;
    if (session === null) return;
    for (const key of keysOf(exchange)) this.#byId.set(key, exchange);
    for (const { cancels } of peek.messages) if (cancels !== null) this.cancel(session, cancels);
    if (exchange.lastEventId === undefined) return;
    exchange.resumes = [...this.#held.keys()].filter((held) => held.session === session);
    for (const held of exchange.resumes) clearTimeout(this.#held.get(held));
  }

  /** Gives the answers that a resumed stream has brought to the calls that they are for. */
  take(exchange: Exchange): void {
    if (!exchange.resumes || !exchange.answers) return;
    for (const answer of exchange.answers.answers) {
      const held = exchange.resumes.find((call) => call.peek.id === answer.id && this.#held.has(call));
      if (!held) continue;
      held.resumedAnswer = answer;
      held.endedAt = performance.now();
      this.#settle(held);
    }
  }

  /** Records all calls that wait. */
  stop(): void {
    for (const held of [...this.#held.keys()]) this.#settle(held);
  }

  #hold(exchange: Exchange): void {
    // Only needed for capture, which keeps the beginning of big ones. A copy: a slice would hold all of it.
    if (!exchange.route.capturePayloads) exchange.body = null;
    else if (exchange.body && exchange.body.length > captureBytes)
      exchange.body = Buffer.from(exchange.body.subarray(0, captureBytes));
    clearTimeout(this.#held.get(exchange));
    this.#held.set(exchange, setTimeout(() => this.#settle(exchange), resumeWithinMs).unref());
  }

  #settle(exchange: Exchange): void {
    clearTimeout(this.#held.get(exchange));
    this.#held.delete(exchange);
    this.#forget(exchange);
    this.#onSettled(exchange);
  }

  #forget(exchange: Exchange): void {
    for (const key of keysOf(exchange)) if (this.#byId.get(key) === exchange) this.#byId.delete(key);
  }
}

/** Whether a call's stream has ended without its answer, and gave event ids to ask for the rest by. */
function isAwaited({ peek, session, answers, refusal }: Exchange): boolean {
  if (session === null || peek.kind !== "request" || peek.id === null || refusal !== null) return false;
  return answers?.resumable === true && answers.answers.length === 0;
}

function keysOf({ session, peek }: Exchange): string[] {
  if (session === null) return [];
  return peek.messages.flatMap(({ kind, id }) => (kind === "request" && id !== null ? [keyOf(session, id)] : []));
}

function keyOf(session: string, id: string | number): string {
  return `${session} ${typeof id} ${id}`;
}
