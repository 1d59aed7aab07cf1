import type { Rest } from "../call/answer.ts";
import { type Admitted, type HeldCall, inSession } from "../call/states.ts";
import { headerOf } from "../forward/headers.ts";
import { captureBytes } from "./redact.ts";

/** Time for a client to resume a stream: SDKs try within a second or two, and give up before this. */
const resumeWithinMs = 30_000;
const maxHeld = 2000;

/** A call that its client cancels. A server may give several principals the same session id, so that isn't enough. */
export type CanceledCall = {
  readonly principal: string;
  readonly session: string;
  readonly requestId: string | number;
};

/** Cancels a call in any process; resolves once those that may forward it have been asked. */
type CancelElsewhere = (canceled: CanceledCall) => Promise<unknown>;

/**
 * Legacy calls without an answer, by session. Another request may decide how one ends: a client cancels by a message,
 * and resumes a stream that ended early by a GET with Last-Event-ID. The row of a call whose stream ended early waits
 * for the answer or a time-out, so that one row holds its result and duration.
 */
export class PendingCalls {
  readonly #byId = new Map<string, HeldCall>();
  /** Calls whose stream has ended, with the timer of their wait, oldest first. */
  readonly #held = new Map<HeldCall, NodeJS.Timeout>();
  readonly #onSettled: (call: HeldCall) => void;
  readonly #cancelElsewhere: CancelElsewhere;
  readonly #maxHeld: number;

  /** `onSettled` gets each call whose row had to wait, once. `share`: this process's share of the bound. */
  constructor(parts: { onSettled: (call: HeldCall) => void; cancelElsewhere: CancelElsewhere; share: number }) {
    this.#onSettled = parts.onSettled;
    this.#cancelElsewhere = parts.cancelElsewhere;
    this.#maxHeld = Math.ceil(maxHeld * parts.share);
  }

  /** Calls that have no answer yet. */
  get size(): number {
    return this.#byId.size;
  }

  /** Counts a call as unanswered while `forward` runs. `isAwaited`: its row waits for an answer on another stream. */
  async track(call: Admitted, forward: () => Promise<Rest>): Promise<{ rest: Rest; isAwaited: boolean }> {
    this.#enter(call);
    let isAwaited = false;
    try {
      // Before it is forwarded: the server may end the canceled call at once.
      if (call.session) await this.#announceCancels(call);
      const rest = await forward();
      isAwaited = mayBeResumed(call);
      return { rest, isAwaited };
    } finally {
      call.received.answer.endedAt = performance.now();
      this.take(call);
      for (const held of call.session?.resumes ?? []) if (this.#held.has(held)) this.#hold(held);
      this.#forget(call);
      if (isAwaited) this.#holdCall(call);
    }
  }

  /** A client has canceled a call. False if it is unknown here. */
  cancel(canceled: CanceledCall): boolean {
    const call = this.#byId.get(keyOf(canceled));
    if (!call?.session) return false;
    call.session.canceled ??= new Set();
    call.session.canceled.add(canceled.requestId);
    call.session.onCanceled?.();
    return true;
  }

  /** Assigns the answers of a resumed stream to their calls. */
  take({ session, received }: Admitted): void {
    if (!session?.resumes || !received.answer.peek) return;
    for (const answer of received.answer.peek.answers) {
      const held = session.resumes.find((call) => call.peek.id === answer.id && this.#held.has(call));
      if (!held?.session) continue;
      held.session.resumedAnswer = answer;
      held.received.answer.endedAt = performance.now();
      this.#settle(held);
    }
  }

  /** Records all calls that wait. */
  stop(): void {
    for (const held of [...this.#held.keys()]) this.#settle(held);
  }

  #enter(call: Admitted): void {
    const { session } = call;
    if (!session) return;
    for (const key of keysOf(call)) this.#byId.set(key, call);
    for (const canceled of canceledBy(call)) this.cancel(canceled);
    if (headerOf(call.call.request, "last-event-id") === undefined) return;
    session.resumes = [...this.#held.keys()].filter(
      (held) => held.session?.key === session.key && held.principal.id === call.principal.id,
    );
    for (const held of session.resumes) clearTimeout(this.#held.get(held));
  }

  async #announceCancels(call: Admitted): Promise<void> {
    for (const canceled of canceledBy(call))
      if (!this.#byId.has(keyOf(canceled))) await this.#cancelElsewhere(canceled);
  }

  #holdCall({ received, principal, body, bodyBytes, peek, session, deploymentId }: Admitted): void {
    // Only for capture, which keeps the beginning of large bodies. A copy: a slice would keep all of it in memory.
    const kept = body.length > captureBytes ? Buffer.from(body.subarray(0, captureBytes)) : body;
    const captured = received.route.capturePayloads ? kept : null;
    const { opened } = received.answer;
    const held: HeldCall = {
      received,
      principal,
      body: captured,
      bodyBytes,
      peek,
      deploymentId,
      session: session ?? (opened && inSession(opened)),
    };
    for (const key of keysOf(held)) this.#byId.set(key, held);
    this.#hold(held);
    const oldest = this.#held.keys().next().value;
    if (this.#held.size > this.#maxHeld && oldest) this.#settle(oldest);
  }

  #hold(call: HeldCall): void {
    clearTimeout(this.#held.get(call));
    this.#held.set(call, setTimeout(() => this.#settle(call), resumeWithinMs).unref());
  }

  #settle(call: HeldCall): void {
    clearTimeout(this.#held.get(call));
    this.#held.delete(call);
    this.#forget(call);
    this.#onSettled(call);
  }

  #forget(call: HeldCall): void {
    for (const key of keysOf(call)) if (this.#byId.get(key) === call) this.#byId.delete(key);
  }
}

/** Whether a call's stream has ended without its answer, and gave event ids for resuming it. */
function mayBeResumed({ peek, session, received: { answer } }: Admitted): boolean {
  const isInSession = session !== null || answer.opened !== null;
  if (!isInSession || peek.kind !== "request" || peek.id === null || answer.refusal !== null) return false;
  return answer.peek?.resumable === true && answer.peek.answers.length === 0;
}

type OfSession = Pick<HeldCall, "session" | "peek" | "principal">;

function canceledBy({ session, peek, principal }: OfSession): CanceledCall[] {
  if (session === null) return [];
  return peek.messages.flatMap(({ cancels: requestId }) =>
    requestId === null ? [] : [{ principal: principal.id, session: session.key, requestId }],
  );
}

function keysOf({ session, peek, principal }: OfSession): string[] {
  if (session === null) return [];
  return peek.messages.flatMap(({ kind, id }) =>
    kind === "request" && id !== null ? [keyOf({ principal: principal.id, session: session.key, requestId: id })] : [],
  );
}

const keyOf = ({ principal, session, requestId }: CanceledCall): string =>
  `${principal} ${session} ${typeof requestId} ${requestId}`;
