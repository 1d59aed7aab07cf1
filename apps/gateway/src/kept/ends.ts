import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Message } from "../portal/messages-in.ts";
import type { KeptCallStore } from "../read-model/kept-calls.ts";
import { notSent } from "./end-of-call.ts";
import type { Ended, LiveCall } from "./live-call.ts";
import type { SealedResults } from "./sealed-results.ts";

/** Pauses between attempts while the database is unavailable. */
const againMs = [500, 1000, 2000, 4000, 8000, 16_000, 30_000];

type Parts = {
  readonly store: KeptCallStore;
  readonly results: SealedResults;
  /** Bytes of kept results of one project. */
  readonly quota: number;
  readonly log: Logger;
};

/** Stores how calls ended, with their sealed results. */
export class Ends {
  readonly #parts: Parts;
  readonly #pending = new Set<Promise<void>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** `ended`: null: nothing was run. `delivered`: whether the call's own client gets all of the answer. */
  async store(live: LiveCall, ended: Ended | null, delivered: Promise<boolean>): Promise<void> {
    for (const pauseMs of againMs) {
      try {
        return await this.#storeOnce(live, ended, delivered);
      } catch (error) {
        this.onProblem(error);
        await sleep(pauseMs, undefined, { ref: false });
      }
    }
    return this.#storeOnce(live, ended, delivered);
  }

  /** Reports what fails, and waits for it in `stored`. */
  track(storing: Promise<void>): Promise<void> {
    const tracked = storing.catch(this.onProblem).finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
    return tracked;
  }

  async stored(): Promise<void> {
    await Promise.all(this.#pending);
  }

  readonly onProblem = (error: unknown): void => {
    this.#parts.log.warn({ err: error }, "a kept call can't be stored or read");
  };

  async #storeOnce(live: LiveCall, ended: Ended | null, delivered: Promise<boolean>): Promise<void> {
    const { store, results, quota } = this.#parts;
    const { row, admitted, identity } = live;
    if ((await live.claimed) === false) return;
    if (ended === null && (await store.release(row.id))) return;
    const { message, ...end } = ended ?? notSent;
    const hasResult = end.state === "waiting" || end.state === "dropped";
    // A client that has its result doesn't ask again, unless it has a key.
    if (identity.kind !== "key" && hasResult && (await delivered) && (await store.delivered(row.id))) return;
    const result = message && results.seal(row.id, admitted, message);
    const { unattendedMinutes } = admitted.call.route;
    const keepMs = end.state === "asking" ? unattendedMinutes * 60_000 : (row.task?.keepMs ?? row.keepMs);
    const { isTask } = live;
    await store.end(row, { ...end, keepMs, isTask, isFailed: isFailed(ended ?? notSent) }, result, quota);
    if (message !== null && (await delivered)) await store.fetched(row.id);
  }
}

const isFailed = ({ state, message }: Ended): boolean =>
  state === "unknown" || message?.error !== undefined || (message?.result as Message | undefined)?.isError === true;
