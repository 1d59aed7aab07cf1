import { randomBytes } from "node:crypto";
import { SandboxError } from "../../port/errors.ts";
import type { Limits } from "../../port/execution.ts";
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
/**
 * What each fork may add to its parent's control group: pages that it wrote before it was moved to its own, and the tables
 * for them, are counted there until it ends. Seen: 1.3 MiB.
 */
const bytesByFork = 4 * 1024 * 1024;
/** The parent's limit is raised for so many forks at a time. */
const forksByRaise = 32;

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

  /** A fork of this parent has failed: servers of its kind start without forks for some time. Those that run go on. */
  block(kind: string, parent: ForkParent, reason: string): void {
    this.#blocked.set(kind, { until: performance.now() + retryMs, reason });
    parent.retire();
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
      limits: sandbox.limits,
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
  readonly #limits: Limits;
  #forks = 0;
  #forking = 0;
  #isOver = false;
  /** Forks for which its memory limit has room. */
  #room = 0;
  #shared: Promise<number | null> = Promise.resolve(null);
  #measuredAt = Number.NEGATIVE_INFINITY;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(interpreter: WaitingInterpreter, { limits, ...source }: ForkSource & { readonly limits: Limits }) {
    this.#interpreter = interpreter;
    this.#source = source;
    this.#limits = limits;
    this.ended = interpreter.gone;
    this.copyOutput = interpreter.copyOutput;
    void this.ended.then(() => {
      this.#isOver = true;
    });
  }

  /** False once nothing more is forked from it, and as soon as it begins to exit. */
  async isAlive(): Promise<boolean> {
    return !this.#isOver && (await this.#interpreter.running.isAlive());
  }

  /** Counts one more fork; false if nothing more is forked from it. */
  join(): boolean {
    if (!this.#isOver) this.#forks += 1;
    return !this.#isOver;
  }

  /** One of those has ended. With the last one it ends too. */
  left(): void {
    this.#forks -= 1;
    if (this.#forks > 0) return;
    this.#isOver = true;
    void this.#interpreter.end();
  }

  /** Forks nothing more, and ends with the last of its forks, which would end with it. */
  retire(): void {
    this.#isOver = true;
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

  /** Raises its memory limit as it gets forks: at the limit the kernel would end it, and all of them with it. */
  async #makeRoom(): Promise<void> {
    if (this.#forks <= this.#room) return;
    this.#room = Math.ceil(this.#forks / forksByRaise) * forksByRaise;
    const memoryBytes = this.#limits.memoryBytes + this.#room * bytesByFork;
    if (!(await this.#interpreter.running.limit({ ...this.#limits, memoryBytes })))
      throw new SandboxError("setup_failed", "The memory limit of the interpreter that forks could not be raised.");
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
      await inTurn(() => this.#makeRoom());
      await inTurn(() => running.wake());
      return await work();
    } finally {
      this.#forking -= 1;
      void inTurn(async () => (this.#forking === 0 ? await running.freeze() : null)).catch(() => {});
    }
  }
}
