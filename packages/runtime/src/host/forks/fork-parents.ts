import { randomBytes } from "node:crypto";
import type { ForkSource, SandboxSpec } from "../engine.ts";
import type { ParentLaunch, PrewarmLaunch, PrewarmOutcome, WaitingInterpreter } from "../prewarm/prewarm-server.ts";
import type { RunningProcess, Spawner } from "../process/running-process.ts";
import { forkSocketName } from "../server/server-spec.ts";
import { forkMount } from "./enter-users.ts";

/** Starts an interpreter, as `Engine.prewarm` does for one that becomes a server. */
type StartParent = (launch: PrewarmLaunch) => Promise<PrewarmOutcome>;

export type ForkParentsParts = {
  readonly start: StartParent;
  /** Keeps it for a later runner, see shim/adopt.ts. */
  readonly keep: (running: RunningProcess, socketDirectory: string) => void;
};

/** How long a kind is started without forks after they have failed. */
const retryMs = 600_000;
/** How long a measurement of a parent's memory is used. */
const measureMs = 10_000;

/** Interpreters of this host that fork (decision 086): at most one of a kind, while any fork of it lives. */
export class ForkParents {
  readonly #parts: ForkParentsParts;
  readonly #parents = new Map<string, Promise<ForkParent | null>>();
  /** Kinds of which nothing is forked, until when (by performance.now()) and why. */
  readonly #blocked = new Map<string, { readonly until: number; readonly reason: string }>();

  constructor(parts: ForkParentsParts) {
    this.#parts = parts;
  }

  /**
   * The parent of a kind, for one more fork, after whose end `left` must be called. It is started unless it is `required`;
   * null: there is none.
   */
  async of(launch: ParentLaunch, startTimeoutMs: number): Promise<ForkParent | null> {
    const { kind } = launch;
    for (let found = this.#parents.get(kind); found !== undefined; found = this.#parents.get(kind)) {
      const parent = await found;
      if (parent === null || parent.join()) return parent;
      // Its last fork has just left it.
      this.#forget(kind, found);
    }
    if (launch.required || this.whyNot(kind) !== null) return null;
    const started = this.#start(launch, startTimeoutMs);
    this.#parents.set(kind, started);
    const parent = await started.catch((error) => {
      this.#forget(kind, started);
      throw error;
    });
    if (parent === null) this.#forget(kind, started);
    else void parent.ended.then(() => this.#forget(kind, started));
    // Another fork of it may have ended already.
    return parent === null || parent.join() ? parent : await this.of(launch, startTimeoutMs);
  }

  /** A fork has failed: servers of this kind start without them for some time. */
  async block(kind: string, reason: string): Promise<void> {
    this.#blocked.set(kind, { until: performance.now() + retryMs, reason });
    await (await this.#parents.get(kind)?.catch(() => null))?.end();
  }

  /** Why nothing of a kind is forked at the moment; null if it may be. */
  whyNot(kind: string): string | null {
    const blocked = this.#blocked.get(kind);
    return blocked !== undefined && blocked.until > performance.now() ? blocked.reason : null;
  }

  async #start(launch: ParentLaunch, startTimeoutMs: number): Promise<ForkParent | null> {
    const made = await launch.make();
    const identity = `forks:${randomBytes(16).toString("hex")}`;
    const sandbox = { ...made.sandbox, identity, mounts: [...made.sandbox.mounts, forkMount] };
    const outcome = await this.#parts
      .start({ sandbox, socketDirectory: made.socketDirectory, startTimeoutMs })
      .catch(async (error) => {
        await launch.remove();
        throw error;
      });
    if (!outcome.ok) {
      const until = outcome.isFinal ? Number.POSITIVE_INFINITY : performance.now() + retryMs;
      this.#blocked.set(launch.kind, { until, reason: outcome.reason });
      await launch.remove();
      return null;
    }
    const { interpreter } = outcome;
    void interpreter.gone.then(launch.remove);
    this.#parts.keep(interpreter.running, made.socketDirectory);
    return new ForkParent(interpreter, {
      socket: `${made.socketDirectory}/shared/${forkSocketName}`,
      python: launch.python,
      parent: { mounts: sandbox.mounts, identity, group: interpreter.running.restorable.group },
    });
  }

  #forget(kind: string, parent: Promise<ForkParent | null>): void {
    if (this.#parents.get(kind) === parent) this.#parents.delete(kind);
  }
}

/** One that waits, frozen unless it forks at the moment. */
export class ForkParent {
  readonly ended: Promise<void>;
  readonly copyOutput: WaitingInterpreter["copyOutput"];
  readonly #interpreter: WaitingInterpreter;
  readonly #source: ForkSource;
  #forks = 0;
  #forking = 0;
  #isOver = false;
  #shared: Promise<number | null> = Promise.resolve(null);
  #measuredAt = Number.NEGATIVE_INFINITY;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(interpreter: WaitingInterpreter, source: ForkSource) {
    this.#interpreter = interpreter;
    this.#source = source;
    this.ended = interpreter.gone;
    this.copyOutput = interpreter.copyOutput;
    void this.ended.then(() => {
      this.#isOver = true;
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Counts one more fork; false if it ends. */
  join(): boolean {
    if (!this.#isOver) this.#forks += 1;
    return !this.#isOver;
  }

  /** One of those has ended. With the last one it ends too. */
  left(): void {
    this.#forks -= 1;
    if (this.#forks === 0) void this.end();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#interpreter.end();
  }

  /** Starts forks of it, as `spawn` starts what is no fork. */
  spawner(spawn: Spawner): Spawner {
    return async (spec: SandboxSpec, reader) => {
      const fork = await this.#awake(() => spawn({ ...spec, fork: this.#source }, reader));
      return { ...fork, memoryBytes: () => this.#memoryBytes(fork) };
    };
  }

  /** Its own memory, and its part of what it shares with the others: together they count it once. */
  async #memoryBytes(fork: RunningProcess): Promise<number | null> {
    const [own, shared] = await Promise.all([fork.memoryBytes(), this.#sharedBytes()]);
    return own === null ? null : own + Math.round(shared / Math.max(1, this.#forks));
  }

  /** Hundreds of forks ask at the same time, and it hardly changes. */
  async #sharedBytes(): Promise<number> {
    const now = performance.now();
    if (now - this.#measuredAt > measureMs) {
      this.#measuredAt = now;
      this.#shared = this.#interpreter.running.memoryBytes();
    }
    return (await this.#shared) ?? 0;
  }

  async #awake<Result>(work: () => Promise<Result>): Promise<Result> {
    const { running } = this.#interpreter;
    this.#forking += 1;
    // One after the other, as a change of the state takes some time.
    const inTurn = (change: () => Promise<unknown>) => {
      this.#turn = this.#turn.then(change, change);
      return this.#turn;
    };
    try {
      await inTurn(() => running.wake());
      return await work();
    } finally {
      this.#forking -= 1;
      void inTurn(async () => (this.#forking === 0 ? await running.freeze() : null)).catch(() => {});
    }
  }
}
