import { setTimeout as sleep } from "node:timers/promises";
import type { Notifications } from "@towpath/db/notifications";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Rest } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { withoutCompression } from "../forward/headers.ts";
import type { OpenResponses } from "../policy/open-responses.ts";
import { KeptCallStore, keptCallChannel } from "../read-model/kept-calls.ts";
import type { ObserverParts } from "../record/observe.ts";
import type { Announce } from "../workers/news.ts";
import { answerForAbsent } from "./absent-client.ts";
import { claimsUnavailable, otherCall, tooManyAnswered, tooManyTasks } from "./answer-repeat.ts";
import type { HashArguments } from "./arguments-hash.ts";
import { becomesTaskLater } from "./becomes-task.ts";
import { endOf } from "./end-of-call.ts";
import { Ends } from "./ends.ts";
import { followStream } from "./follow-stream.ts";
import { identityOf, resumed } from "./identity.ts";
import {
  type Asked,
  type Ended,
  type Forward,
  isAnswered,
  isDelivered,
  isSameCall,
  LiveCall,
  nameOf,
} from "./live-call.ts";
import { RepeatNames } from "./repeat-names.ts";
import { Repeats } from "./repeats.ts";
import type { SealedResults } from "./sealed-results.ts";
import type { TaskOfCall } from "./task-of-call.ts";
import { TaskResponse } from "./task-response.ts";
import { createMemory, Unattended } from "./unattended.ts";

/** A call that lasts longer is claimed while its client waits: its gateway may end. */
const claimAfterMs = 250;
const stayAliveMs = 3000;
const sweepMs = 10_000;
const storeWithinMs = 2000;

export type KeptCallParts = ObserverParts & {
  readonly pool: Pool;
  readonly log: Logger;
  readonly results: SealedResults;
  readonly hashArguments: HashArguments;
  /** Bytes of kept results of one project. */
  readonly quota: number;
  readonly share: number;
  readonly announce: Announce;
  readonly openResponses: Pick<OpenResponses, "wasRevoked">;
};

/**
 * Tool calls that outlive their client, and are run once however often they are asked for (CAP-2, decision 087). Calls
 * that can't be asked for again pass untouched; the others cost no query while they last less than 250 ms and their
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
  readonly #repeats: Repeats;
  readonly #timers: NodeJS.Timeout[] = [];
  #isStopping = false;

  constructor(parts: KeptCallParts) {
    this.#parts = parts;
    this.#store = new KeptCallStore(parts.pool);
    this.#ends = new Ends({ ...parts, store: this.#store });
    this.#repeats = new Repeats({ ...parts, store: this.#store, ends: this.#ends });
    this.#names = new RepeatNames(() => this.#store.repeatNames());
    this.#unattended = new Unattended(parts.share);
    this.#memory = createMemory(parts.share);
  }

  /** Number of calls that run without their client. */
  get unattended(): number {
    return this.#unattended.size;
  }

  /** `sweeps`: one process of a gateway looks for calls that others have left. Returns a function that ends it. */
  start(notifications: Notifications, { sweeps }: { readonly sweeps: boolean }): () => void {
    const every = (ms: number, work: () => Promise<unknown>) =>
      this.#timers.push(setInterval(() => void work().catch(this.#ends.onProblem), ms).unref());
    every(stayAliveMs, async () => {
      const live = [...this.#live.values()].filter(({ claimed }) => claimed !== null);
      const canceled = live.length === 0 ? [] : await this.#store.stayAlive(live.map(({ row }) => row.id));
      for (const each of live) if (canceled.includes(each.row.id)) each.cancel();
    });
    if (sweeps) every(sweepMs, () => this.#store.sweep());
    return notifications.subscribe({ channel: keptCallChannel }, (name) => this.#names.learn(name));
  }

  get store(): KeptCallStore {
    return this.#store;
  }

  /**
   * Runs an admitted call, or answers it with what an earlier one like it got. `task`: null: its client gets no task.
   *
   * @throws GatewayError
   */
  run(admitted: Admitted, forward: Forward, task: TaskOfCall | null = null): Promise<Rest> {
    const identity = identityOf(admitted, { isTask: task !== null, hashArguments: this.#parts.hashArguments });
    return identity === null ? forward(admitted) : this.#run({ admitted, identity, task }, forward);
  }

  /**
   * Takes a task that its client has answered, if `take` can make its row this process's; returns how to run it on.
   * @throws GatewayError if too many calls run without their client
   */
  async resume(
    admitted: Admitted,
    task: TaskOfCall,
    take: () => Promise<boolean>,
  ): Promise<((forward: Forward) => Promise<void>) | null> {
    const live = this.#liveCall({ admitted, identity: resumed, task });
    if (this.#isStopping || !this.#unattended.hasRoomFor(live)) throw tooManyAnswered();
    live.claimed = Promise.resolve(true);
    live.becomesTask();
    let isOwn = false;
    try {
      isOwn = await take();
    } finally {
      if (!isOwn) live.finish(null);
    }
    if (!isOwn) return null;
    this.#live.set(nameOf(live), live);
    return async (forward) => void (await this.#execute(live, forward));
  }

  /** Ends a task, if it runs in this process. */
  cancel(id: string): void {
    for (const live of this.#live.values()) if (live.isTask && live.row.id === id) live.cancel();
  }

  /** Resolves once a task that runs in this process has ended; at once for others. */
  async ended(id: string): Promise<void> {
    for (const live of this.#live.values()) if (live.row.id === id) return live.ended.then(() => live.stored);
    return new Promise(() => {});
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

  async #run(asked: Asked, forward: Forward): Promise<Rest> {
    const { admitted, identity, task } = asked;
    const name = nameOf(asked);
    const live = this.#live.get(name);
    if (live) {
      const isSame = isSameCall(live, identity);
      if (!isSame && identity.kind === "key") throw otherCall();
      // A client that uses an id for two calls at a time means both.
      if (!isSame) return forward(admitted);
      live.isAwaited = true;
      if (await live.begun) return this.#repeats.join(admitted, live, task);
      return this.#run(asked, forward);
    }
    if (identity.kind === "repeat" && (await this.#names.has(name))) {
      const stored = await this.#repeats.find(identity);
      if (stored) return this.#repeats.answerStored(admitted, { identity, stored, task });
    }
    // Another request may have come first meanwhile.
    if (this.#live.has(name)) return this.#run(asked, forward);
    const own = this.#liveCall(asked);
    this.#live.set(name, own);
    let isOwn = identity.kind === "repeat" || (identity.kind === "task" && task?.isAskedFor === false);
    try {
      isOwn ||= await this.#claim(own);
      if (isOwn) return await this.#execute(own, forward);
    } finally {
      if (!isOwn) {
        this.#live.delete(name);
        own.finish(null);
      }
    }
    const stored = await this.#repeats.find(identity);
    // Whoever had the claim has given it up.
    return stored ? this.#repeats.answerStored(admitted, { identity, stored, task }) : this.#run(asked, forward);
  }

  #liveCall({ admitted, identity, task }: Asked): LiveCall {
    return new LiveCall(admitted, identity, {
      memory: this.#memory,
      mayGoOn: (call) => this.#mayGoOn(call),
      onLeft: (call) => this.#left(call),
      task,
    });
  }

  async #execute(live: LiveCall, forward: Forward): Promise<Rest> {
    const { admitted, identity, task } = live;
    admitted.kept = live;
    live.begin();
    live.forward = forward;
    // A result is kept as text.
    admitted.headers.splice(0, admitted.headers.length, ...withoutCompression(admitted.headers));
    if (admitted.session) admitted.session.onCanceled = () => live.cancel();
    const claim = () => void this.#claimWhileRunning(live);
    const timer = identity.kind === "repeat" ? setTimeout(claim, claimAfterMs).unref() : undefined;
    const becoming = task?.isAskedFor === false && !live.isTask ? this.#later(live) : undefined;
    try {
      if (task?.isAskedFor && !live.isTask && !this.#becomesTask(live)) throw tooManyTasks();
      const rest = await forward(admitted);
      if (live.isUnattended) await followStream(live);
      this.#ended(live, () => endOf(live));
      return rest;
    } catch (error) {
      this.#ended(live, () => endOf(live, error));
      throw error;
    } finally {
      clearTimeout(timer);
      becoming?.abort();
    }
  }

  /** Its row must be there. False: it can't, now. */
  #becomesTask(live: LiveCall): boolean {
    const { task } = live;
    // A client that left without its task can't ask for it.
    if (!task || this.#isStopping || task.response.destroyed) return false;
    if ((!task.isAskedFor && !task.response.canDetach) || !this.#unattended.hasRoomFor(live)) return false;
    live.becomesTask();
    task.give(live.row, live);
    return true;
  }

  #later(live: LiveCall): AbortController {
    return becomesTaskLater(live, {
      mayBegin: () => live.task?.mayBegin() === true,
      claim: () => this.#store.claim(live.row),
      becomesTask: () => this.#becomesTask(live),
      onProblem: this.#ends.onProblem,
    });
  }

  #mayGoOn(live: LiveCall): boolean {
    const { admitted, identity } = live;
    const { response } = admitted.call;
    const client = response instanceof TaskResponse ? response.client : response;
    if (client !== null && this.#parts.openResponses.wasRevoked(client)) return false;
    // It is no task yet: its client asked for none, and ends it.
    if (identity.kind === "task") return false;
    // The client can resume such a stream itself.
    if (identity.kind === "repeat" && admitted.received.answer.peek?.resumable === true) return false;
    return this.#unattended.hasRoomFor(live);
  }

  #left(live: LiveCall): void {
    const { unattendedMinutes: minutes } = live.admitted.call.route;
    this.#unattended.enter(live);
    if (live.claimed === null) void this.#claimWhileRunning(live);
    answerForAbsent(live);
    const why = `It still ran ${minutes} min after its client had left${live.isTask ? " it as a task" : ""}.`;
    const timer = setTimeout(() => live.cut(why), minutes * 60_000).unref();
    void live.ended.then(() => clearTimeout(timer));
  }

  /** @throws GatewayError if the database is unavailable */
  async #claim(live: LiveCall): Promise<boolean> {
    try {
      live.claimed = this.#store.claim(live.row);
      return await live.claimed;
    } catch (error) {
      this.#ends.onProblem(error);
      throw claimsUnavailable();
    }
  }

  async #claimWhileRunning(live: LiveCall): Promise<void> {
    live.claimed ??= this.#store.claim(live.row).catch((error: unknown) => {
      this.#ends.onProblem(error);
      // Its end is stored all the same.
      return true;
    });
    if (!(await live.claimed)) this.#parts.log.warn({ requestId: live.row.id }, "another call has its session and id");
  }

  /** Call it before its client has all of the answer. */
  #ended(live: LiveCall, endOfCall: () => Ended | null): void {
    const delivered = isDelivered(live);
    const store = async () => {
      const ended = endOfCall();
      live.finish(ended);
      if (ended !== null || live.claimed !== null) await this.#ends.store(live, ended, delivered);
    };
    const isNeeded = live.claimed !== null || live.isAwaited;
    // What was answered at once leaves no trace, and its answer is not read.
    const unless = async () => ((await delivered) && isAnswered(live) ? live.finish(null) : store());
    live.stored = this.#ends.track(isNeeded ? store() : unless());
    // Until then a repeat finds it here.
    void live.stored.then(() => this.#live.delete(nameOf(live)));
  }
}
