import cluster, { type Worker } from "node:cluster";
import { replacedMessage, type StopReason } from "@towpath/role";
import type { Logger } from "pino";
import { type Question, type ToPrimary, type ToWorker, toPrimarySchema } from "./peers.ts";

/** A worker that lived for this long before it ended is replaced at once; after shorter lives the pause doubles. */
const shortLifeMs = 10_000;
const firstPauseMs = 100;
const maxPauseMs = 10_000;
const pingEveryMs = 2000;
/** A worker that leaves this many pings in a row unanswered hangs. Counted, not timed: a machine may be suspended. */
const maxUnanswered = 5;

type WorkerSlot = {
  readonly index: number;
  worker: Worker;
  startedAt: number;
  isReady: boolean;
  shortLives: number;
  unanswered: number;
};

/**
 * Runs the gateway as `count` worker processes behind one port, and replaces those that end. All accept from one
 * listening socket, which this process keeps open: a worker that dies takes only its own requests with it, and the
 * others accept the waiting connections (docs/decisions/016-workers-of-the-gateway.md). It serves nothing itself.
 */
export class Primary {
  readonly #count: number;
  readonly #gatewayId: string;
  readonly #onSocketLost: (() => never) | null;
  readonly #log: Logger;
  readonly #slots: WorkerSlot[];
  readonly #pings: NodeJS.Timeout;
  readonly #ready = Promise.withResolvers<number>();
  #isStarted = false;
  #isStopping = false;
  #onEmpty: (() => void) | null = null;
  #wasKilled = false;

  /**
   * `onSocketLost`: of a gateway whose supervisor holds the listening socket. `cluster` closes this process's descriptor
   * of it with the last worker that serves; only a new process gets another one. Null: workers open a new socket.
   */
  constructor({
    count,
    gatewayId,
    onSocketLost,
    log,
  }: {
    count: number;
    gatewayId: string;
    onSocketLost: (() => never) | null;
    log: Logger;
  }) {
    this.#count = count;
    this.#gatewayId = gatewayId;
    this.#onSocketLost = onSocketLost;
    this.#log = log;
    // Not SCHED_RR: a connection handed to a worker that dies is neither closed nor handed on.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: "advanced" });
    cluster.on("message", (worker, message) => this.#receive(worker, message));
    cluster.on("exit", (worker, code, signal) => this.#exited(worker, signal ?? `status ${code}`));
    this.#slots = Array.from({ length: count }, (_, index) => ({
      index,
      worker: this.#fork(index),
      startedAt: performance.now(),
      isReady: false,
      shortLives: 0,
      unanswered: 0,
    }));
    this.#pings = setInterval(() => this.#ping(), pingEveryMs);
  }

  /** Resolves to the port once all workers serve. Rejects when one ends before that; its log says why. */
  get ready(): Promise<number> {
    return this.#ready.promise;
  }

  /** Lets all workers drain and exit; kills those left after `withinMs`. Resolves to whether none was killed. */
  async stop(reason: StopReason, withinMs: number): Promise<boolean> {
    this.#isStopping = true;
    clearInterval(this.#pings);
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const timer = setTimeout(() => {
      this.#wasKilled = true;
      for (const worker of running()) worker.process.kill("SIGKILL");
    }, withinMs);
    for (const worker of running()) {
      if (reason === "replaced") worker.send(replacedMessage);
      else worker.process.kill("SIGTERM");
    }
    if (running().length === 0) resolve();
    await empty;
    clearTimeout(timer);
    return !this.#wasKilled;
  }

  #fork(index: number): Worker {
    return cluster.fork({
      TOWPATH_GATEWAY_WORKERS: String(this.#count),
      TOWPATH_GATEWAY_WORKER: String(index),
      TOWPATH_GATEWAY_ID: this.#gatewayId,
      // The descriptor is handed on by `cluster`, so a worker takes it although it is another process.
      ...(this.#onSocketLost !== null && { LISTEN_PID: undefined }),
    });
  }

  #receive(worker: Worker, message: unknown): void {
    const parsed = toPrimarySchema.safeParse(message);
    if (!parsed.success) return;
    const { data } = parsed;
    if (data.type === "ready") this.#started(worker, data.port);
    else if (data.type === "pong") this.#answeredPing(worker);
    else if (data.type === "ask") this.#ask(worker, data.id, data.question);
    else this.#passOn(data);
  }

  #started(worker: Worker, port: number): void {
    const slot = this.#slots.find((each) => each.worker === worker);
    if (!slot) return;
    slot.isReady = true;
    this.#log.info({ worker: slot.index, pid: worker.process.pid }, "worker ready");
    if (this.#isStarted || !this.#slots.every(({ isReady }) => isReady)) return;
    this.#isStarted = true;
    this.#ready.resolve(port);
  }

  /** Kills workers that hang: their clients would wait forever, and no exit event reports them. */
  #ping(): void {
    for (const slot of this.#slots) {
      if (!slot.isReady) continue;
      if (slot.unanswered >= maxUnanswered) {
        this.#log.error({ worker: slot.index, pid: slot.worker.process.pid }, "a worker hangs; it is killed");
        slot.isReady = false;
        slot.worker.process.kill("SIGKILL");
        continue;
      }
      slot.unanswered += 1;
      send(slot.worker, { type: "ping" });
    }
  }

  #answeredPing(worker: Worker): void {
    const slot = this.#slots.find((each) => each.worker === worker);
    if (slot) slot.unanswered = 0;
  }

  #exited(worker: Worker, reason: string): void {
    if (this.#isStopping) {
      if (running().length === 0) this.#onEmpty?.();
      return;
    }
    const slot = this.#slots.find((each) => each.worker === worker);
    if (!slot) return;
    if (!this.#isStarted) {
      this.#ready.reject(new Error(`worker ${slot.index} of the gateway could not start (${reason})`));
      return;
    }
    slot.isReady = false;
    if (this.#slots.every(({ isReady }) => !isReady)) this.#onSocketLost?.();
    slot.shortLives = performance.now() - slot.startedAt < shortLifeMs ? slot.shortLives + 1 : 0;
    const pauseMs = slot.shortLives < 2 ? 0 : Math.min(firstPauseMs * 2 ** (slot.shortLives - 2), maxPauseMs);
    this.#log.error({ worker: slot.index, pid: worker.process.pid, reason, pauseMs }, "a worker ended; it is replaced");
    setTimeout(() => {
      if (this.#isStopping) return;
      slot.startedAt = performance.now();
      slot.unanswered = 0;
      slot.worker = this.#fork(slot.index);
    }, pauseMs);
  }

  #ask(asker: Worker, id: number | null, question: Question): void {
    const others = this.#slots.filter(({ isReady, worker }) => isReady && worker !== asker);
    if (id !== null) send(asker, { type: "asked", id, count: others.length });
    for (const { worker } of others) send(worker, { type: "question", asker: asker.id, id, question });
  }

  #passOn({ asker, id, answer }: Extract<ToPrimary, { type: "answer" }>): void {
    const worker = cluster.workers?.[asker];
    if (worker) send(worker, { type: "answer", id, answer });
  }
}

function running(): Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => (worker && !worker.isDead() ? [worker] : []));
}

function send(worker: Worker, message: ToWorker): void {
  // The exit event handles a worker that has just ended.
  if (worker.isConnected()) worker.send(message, () => {});
}
