import { setTimeout as sleep } from "node:timers/promises";
import type { Notifications } from "@towpath/db/notifications";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Rest } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { withoutCompression } from "../forward/headers.ts";
import type { OpenResponses } from "../policy/open-responses.ts";
import { KeptCallStore, keptCallChannel, type StoredCall } from "../read-model/kept-calls.ts";
import type { ObserverParts } from "../record/observe.ts";
import type { Announce } from "../workers/news.ts";
import { answerRepeat, claimsUnavailable, endOfStored, notRun, otherCall, type Repeated } from "./answer-repeat.ts";
import { endOf } from "./end-of-call.ts";
import { Ends } from "./ends.ts";
import { type Identity, identityOf } from "./identity.ts";
import { type Ended, LiveCall } from "./live-call.ts";
import { RepeatNames } from "./repeat-names.ts";
import type { SealedResults } from "./sealed-results.ts";
import { createMemory, Unattended } from "./unattended.ts";

/** A call that lasts longer is claimed while its client waits: its gateway may end. */
const claimAfterMs = 1000;
const stayAliveMs = 3000;
const sweepMs = 10_000;
/** Pauses between two looks at a call that runs in another process; the last one repeats. */
const lookMs = [100, 200, 400, 800, 1500];
/** Of the answers of all calls in this process that may be asked for again. */
const maxAnswerBytes = 64 * 1024 * 1024;
const storeWithinMs = 2000;

export type KeptCallParts = ObserverParts & {
  readonly pool: Pool;
  readonly log: Logger;
  readonly results: SealedResults;
  /** Bytes of kept results of one project. */
  readonly quota: number;
  readonly share: number;
  readonly announce: Announce;
  readonly openResponses: Pick<OpenResponses, "wasRevoked">;
};

/**
 * Tool calls that outlive their client, and are run once however often they are asked for (CAP-2, decision 087). Calls
 * that can't be asked for again pass untouched; the others cost no query while they last less than a second and their
 * client stays.
 */
export class KeptCalls {
  readonly #parts: KeptCallParts;
  readonly #store: KeptCallStore;
  /** By session and request id, or by the claim of a key. */
  readonly #live = new Map<string, LiveCall>();
  readonly #names: RepeatNames;
  readonly #unattended: Unattended;
  readonly #memory: ReturnType<typeof createMemory>;
  readonly #ends: Ends;
  readonly #timers: NodeJS.Timeout[] = [];
  #isStopping = false;

  constructor(parts: KeptCallParts) {
    this.#parts = parts;
    this.#store = new KeptCallStore(parts.pool);
    this.#ends = new Ends({ ...parts, store: this.#store });
    this.#names = new RepeatNames(() => this.#store.repeatNames());
    this.#unattended = new Unattended(parts.share);
    this.#memory = createMemory(maxAnswerBytes * parts.share);
  }

  /** Number of calls that run without their client. */
  get unattended(): number {
    return this.#unattended.size;
  }

  /** `sweeps`: one process of a gateway looks for calls that others have left. Returns a function that ends it. */
  start(notifications: Notifications, { sweeps }: { readonly sweeps: boolean }): () => void {
    const every = (ms: number, work: () => Promise<unknown>) =>
      this.#timers.push(setInterval(() => void work().catch(this.#onProblem), ms).unref());
    every(stayAliveMs, async () => {
      const live = [...this.#live.values()].filter(({ claimed }) => claimed !== null);
      const canceled = live.length === 0 ? [] : await this.#store.stayAlive(live.map(({ row }) => row.id));
      for (const each of live) if (canceled.includes(each.row.id)) each.cancel();
    });
    if (sweeps) every(sweepMs, () => this.#store.sweep());
    return notifications.subscribe({ channel: keptCallChannel }, (name) => this.#names.learn(name));
  }

  /** Runs an admitted call, or answers it with what an earlier one like it got. @throws GatewayError */
  run(admitted: Admitted, forward: () => Promise<Rest>): Promise<Rest> {
    const identity = identityOf(admitted);
    return identity === null ? forward() : this.#run(admitted, identity, forward);
  }

  /** Waits for calls without a client, then ends them as unknown; resolves once all ends are stored. */
  async stop(withinMs: number): Promise<void> {
    this.#isStopping = true;
    const all = () => Promise.all([...this.#live.values()].map(({ ended }) => ended));
    await Promise.race([all(), sleep(withinMs, undefined, { ref: false })]);
    for (const live of this.#live.values()) live.cut("Its gateway was stopped before the server answered.");
    const stored = all().then(() => this.#ends.stored());
    await Promise.race([stored, sleep(storeWithinMs, undefined, { ref: false })]);
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #run(admitted: Admitted, identity: Identity, forward: () => Promise<Rest>): Promise<Rest> {
    const name = nameOf(identity);
    const live = this.#live.get(name);
    if (live) {
      const isSame = live.row.argumentsHash === identity.hashes().argumentsHash;
      if (!isSame && identity.kind === "key") throw otherCall();
      // A client that uses an id for two calls at a time means both.
      if (!isSame) return forward();
      live.isAwaited = true;
      if (await live.begun) return this.#join(admitted, live);
      return this.#run(admitted, identity, forward);
    }
    if (identity.kind === "repeat" && (await this.#names.has(name))) {
      const stored = await this.#find(identity);
      if (stored) return this.#answerStored(admitted, identity, stored);
    }
    // Another request may have come first meanwhile.
    if (this.#live.has(name)) return this.#run(admitted, identity, forward);
    const own = new LiveCall(admitted, identity, {
      memory: this.#memory,
      mayGoOn: (call) => this.#mayGoOn(call),
      onLeft: (call) => this.#left(call),
    });
    this.#live.set(name, own);
    let isOwn = identity.kind === "repeat";
    try {
      isOwn ||= await this.#claim(own);
      if (isOwn) return await this.#execute(own, forward);
    } finally {
      if (!isOwn) {
        this.#live.delete(name);
        own.finish(null);
      }
    }
    const stored = await this.#find(identity);
    // Whoever had the claim has given it up.
    return stored ? this.#answerStored(admitted, identity, stored) : this.#run(admitted, identity, forward);
  }

  async #execute(live: LiveCall, forward: () => Promise<Rest>): Promise<Rest> {
    const { admitted, identity } = live;
    admitted.kept = live;
    live.begin();
    // A result is kept as text.
    admitted.headers.splice(0, admitted.headers.length, ...withoutCompression(admitted.headers));
    if (admitted.session) admitted.session.onCanceled = () => live.cancel();
    const claim = () => void this.#claimWhileRunning(live);
    const timer = identity.kind === "repeat" ? setTimeout(claim, claimAfterMs).unref() : undefined;
    try {
      const rest = await forward();
      this.#ended(live, () => endOf(live));
      return rest;
    } catch (error) {
      this.#ended(live, () => endOf(live, error));
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #mayGoOn(live: LiveCall): boolean {
    const { admitted, identity } = live;
    if (this.#isStopping || this.#parts.openResponses.wasRevoked(admitted.call.response)) return false;
    // The client can resume such a stream itself.
    if (identity.kind === "repeat" && admitted.received.answer.peek?.resumable === true) return false;
    return this.#unattended.hasRoomFor(live);
  }

  #left(live: LiveCall): void {
    const { unattendedMinutes: minutes } = live.admitted.call.route;
    this.#unattended.enter(live);
    if (live.claimed === null) void this.#claimWhileRunning(live);
    const cut = () => live.cut(`It still ran ${minutes} min after its client had left.`);
    const timer = setTimeout(cut, minutes * 60_000).unref();
    void live.ended.then(() => clearTimeout(timer));
  }

  /** @throws GatewayError if the database is unavailable */
  async #claim(live: LiveCall): Promise<boolean> {
    try {
      live.claimed = this.#store.claim(live.row);
      return await live.claimed;
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  async #claimWhileRunning(live: LiveCall): Promise<void> {
    live.claimed ??= this.#store.claim(live.row).catch((error: unknown) => {
      this.#onProblem(error);
      // Its end is stored all the same.
      return true;
    });
    if (!(await live.claimed)) this.#parts.log.warn({ requestId: live.row.id }, "another call has its session and id");
  }

  /** Call it before its client has all of the answer. */
  #ended(live: LiveCall, endOfCall: () => Ended | null): void {
    const { response } = live.admitted.call;
    const delivered = new Promise<boolean>((resolve) => {
      if (response.destroyed) resolve(response.writableFinished);
      else response.once("close", () => resolve(response.writableFinished));
    });
    const store = async () => {
      const ended = endOfCall();
      live.finish(ended);
      if (ended !== null || live.claimed !== null) await this.#ends.store(live, ended, delivered);
    };
    const isNeeded = live.claimed !== null || live.isAwaited;
    // What was answered at once leaves no trace, and its answer is not read.
    const unless = async () => ((await delivered) && !live.isAwaited ? live.finish(null) : store());
    live.stored = this.#ends.track(isNeeded ? store() : unless());
    // Until then a repeat finds it here.
    void live.stored.then(() => this.#live.delete(nameOf(live.identity)));
  }

  /** @throws GatewayError if the database is unavailable */
  async #find(identity: Identity): Promise<StoredCall | null> {
    try {
      return await this.#store.find(identity.hashes().claim);
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  #join(admitted: Admitted, live: LiveCall): Promise<Rest> {
    const cancel = () => live.cancel();
    return this.#answer(admitted, this.#whenEnded(live), { cancel, stored: () => live.stored });
  }

  #answerStored(admitted: Admitted, identity: Identity, stored: StoredCall): Promise<Rest> {
    if (stored.argumentsHash !== identity.hashes().argumentsHash) throw otherCall();
    const { keepResultsMinutes } = admitted.call.route;
    // Its process learns of it when it next says that it lives.
    const cancel = () => void this.#ends.track(this.#store.cancel(stored.id, keepResultsMinutes));
    return this.#answer(admitted, this.#whenStored(admitted, identity, stored), { cancel, stored: async () => {} });
  }

  /** `cancel`: ends the call that the request repeats. `stored`: resolves once its end is stored. */
  async #answer(
    admitted: Admitted,
    repeated: Promise<Repeated>,
    { cancel, stored }: { cancel: () => void; stored: () => Promise<void> },
  ): Promise<Rest> {
    const { session, call, received } = admitted;
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
      if (call.response.writableFinished) void this.#ends.track(stored().then(() => this.#store.fetched(fetched)));
    });
    return rest;
  }

  async #whenEnded({ ended, row }: LiveCall): Promise<Repeated> {
    const end = await ended;
    if (end === null) throw notRun();
    return { id: row.id, startedAt: row.startedAt, expiresAt: null, ended: end };
  }

  async #whenStored(admitted: Admitted, identity: Identity, first: StoredCall): Promise<Repeated> {
    let stored: StoredCall | null = first;
    if (first.state === "running") await this.#store.await(first.id).catch(this.#onProblem);
    for (let at = 0; stored?.state === "running" && !admitted.call.response.destroyed; at++) {
      await sleep(lookMs[Math.min(at, lookMs.length - 1)], undefined, { ref: false });
      // Without the database it goes on waiting.
      const latest: StoredCall | null = stored;
      stored = await this.#store.find(identity.hashes().claim).catch((error: unknown) => {
        this.#onProblem(error);
        return latest;
      });
    }
    if (stored === null) throw notRun();
    const { id, startedAt, expiresAt, sealed } = stored;
    const message = sealed === null ? null : this.#parts.results.open(id, admitted, sealed);
    return { id, startedAt, expiresAt, ended: endOfStored(stored, message) };
  }

  #unavailable(error: unknown) {
    this.#onProblem(error);
    return claimsUnavailable();
  }

  readonly #onProblem = (error: unknown): void => this.#ends.onProblem(error);
}

const nameOf = (identity: Identity): string => identity.name ?? identity.hashes().claim;
