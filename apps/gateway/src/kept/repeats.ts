import { setTimeout as sleep } from "node:timers/promises";
import type { Rest } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import type { KeptCallStore, StoredCall } from "../read-model/kept-calls.ts";
import type { ObserverParts } from "../record/observe.ts";
import { answerRepeat, claimsUnavailable, endOfStored, notRun, otherCall, type Repeated } from "./answer-repeat.ts";
import { hasOtherArguments } from "./arguments-hash.ts";
import type { Ends } from "./ends.ts";
import type { Identity } from "./identity.ts";
import type { LiveCall } from "./live-call.ts";
import type { SealedResults } from "./sealed-results.ts";
import type { TaskOfCall } from "./task-of-call.ts";

/** Pauses between two looks at a call that runs in another process; the last one repeats. */
export const lookMs = [100, 200, 400, 800, 1500];

type Parts = ObserverParts & {
  readonly store: KeptCallStore;
  readonly results: SealedResults;
  readonly ends: Ends;
};

/** Answers requests that repeat a call. */
export class Repeats {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws GatewayError if the database is unavailable */
  async find(identity: Identity): Promise<StoredCall | null> {
    try {
      return await this.#parts.store.find(identity.hashes().claim);
    } catch (error) {
      this.#parts.ends.onProblem(error);
      throw claimsUnavailable();
    }
  }

  /** Of a call that runs in this process. */
  join(admitted: Admitted, live: LiveCall, task: TaskOfCall | null): Promise<Rest> {
    if (task) return task.repeat(admitted, live.row);
    const cancel = () => live.cancel();
    return this.#answer(admitted, whenEnded(live), { cancel, stored: () => live.stored });
  }

  answerStored(
    admitted: Admitted,
    { identity, stored, task }: { identity: Identity; stored: StoredCall; task: TaskOfCall | null },
  ): Promise<Rest> {
    if (hasOtherArguments(stored.argumentsHash, identity.hashes().argumentsHash)) throw otherCall();
    const isOpen = stored.state === "running" || stored.state === "asking";
    if (task && (task.isAskedFor || isOpen)) return task.repeat(admitted, stored);
    const { store, ends } = this.#parts;
    const { keepResultsMinutes } = admitted.call.route;
    // Its process learns of it when it next says that it lives.
    const cancel = () => void ends.track(store.cancel(stored.id, keepResultsMinutes));
    return this.#answer(admitted, this.#whenStored(admitted, identity, stored), { cancel, stored: async () => {} });
  }

  /** `cancel`: ends the call that the request repeats. `stored`: resolves once its end is stored. */
  async #answer(
    admitted: Admitted,
    repeated: Promise<Repeated>,
    { cancel, stored }: { cancel: () => void; stored: () => Promise<void> },
  ): Promise<Rest> {
    const { session, call, received } = admitted;
    const { store, ends } = this.#parts;
    if (session) session.onCanceled = cancel;
    // Why there is none is in the answer, if its client is still there.
    const id = repeated.then(
      (got) => got.id,
      () => null,
    );
    const rest = await answerRepeat(this.#parts, admitted, repeated);
    const fetched = received.answer.end === "complete" ? await id : null;
    if (fetched === null) return rest;
    call.response.once("close", () => {
      if (call.response.writableFinished) void ends.track(stored().then(() => store.fetched(fetched)));
    });
    return rest;
  }

  async #whenStored(admitted: Admitted, identity: Identity, first: StoredCall): Promise<Repeated> {
    const { store, ends, results } = this.#parts;
    let stored: StoredCall | null = first;
    if (first.state === "running") await store.await(first.id).catch(ends.onProblem);
    for (let at = 0; stored?.state === "running" && !admitted.call.response.destroyed; at++) {
      await sleep(lookMs[Math.min(at, lookMs.length - 1)], undefined, { ref: false });
      // Without the database it goes on waiting.
      const latest: StoredCall | null = stored;
      stored = await store.find(identity.hashes().claim).catch((error: unknown) => {
        ends.onProblem(error);
        return latest;
      });
    }
    if (stored === null) throw notRun();
    const { id, startedAt, expiresAt } = stored;
    return { id, startedAt, expiresAt, ended: endOfStored(stored, results.resultOf(stored, admitted)) };
  }
}

async function whenEnded({ ended, row }: LiveCall): Promise<Repeated> {
  const end = await ended;
  if (end === null) throw notRun();
  return { id: row.id, startedAt: row.startedAt, expiresAt: null, ended: end };
}
