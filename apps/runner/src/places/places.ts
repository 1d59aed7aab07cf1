import { RunnerError } from "@towpath/runner-api";
import type { HostReport } from "@towpath/runtime";
import {
  type Budget,
  type CallerGroup,
  decide,
  type Occupant,
  type Shortage,
  shortageOf,
  type View,
  type Waiter,
} from "./placement.ts";

/** The holder of a place. */
export type Seat = {
  readonly server: string;
  readonly organizationId: string;
  readonly callers: CallerGroup | null;
  /** Its current state. */
  look(): Omit<Occupant, keyof Waiter>;
  /** Stops it unless it has been leased meanwhile. Resolves when it has ended, or isn't stopped. */
  evict(): Promise<void>;
};

type Waiting = { readonly seat: Seat; readonly admit: () => void; readonly refuse: (error: RunnerError) => void };

const mebibyte = 1024 * 1024;
const retryAfterMs = 5000;

/** The operator's settings. Null: derived from the host. */
export type BudgetSettings = Omit<Budget, "maxStarting" | "memoryBytes"> & {
  readonly maxStarting: number | null;
  readonly memoryBytes: number | null;
};

/** By default twice the processors, and three quarters of the memory. Pure. */
export const budgetOf = (settings: BudgetSettings, { memoryBytes, processors }: HostReport["capacity"]): Budget => ({
  ...settings,
  maxStarting: settings.maxStarting ?? Math.max(4, 2 * processors),
  memoryBytes: settings.memoryBytes ?? Math.floor((memoryBytes * 0.75) / mebibyte) * mebibyte,
});

/**
 * The places for instances on this host: which seats have one and which wait. Applies the decisions of `decide`
 * synchronously, so that no place is assigned twice.
 */
export class Places {
  readonly budget: Budget;
  readonly #waitMs: number;
  readonly #onRefused: (server: string, reason: string) => void;
  readonly #held = new Map<string, Seat>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #leaving = new Set<string>();
  readonly #servedAt = new Map<string, number>();
  #turn = 0;

  /**
   * `waitMs`: how long a start waits for its place; less than the gateway holds requests. `onRefused`: called for each
   * start that has waited so long.
   */
  constructor(budget: Budget, waitMs: number, onRefused: (server: string, reason: string) => void = () => {}) {
    this.budget = budget;
    this.#waitMs = waitMs;
    this.#onRefused = onRefused;
  }

  /**
   * Resolves when the seat has its place, until `release`.
   *
   * @throws RunnerError `capacity` after `waitMs`, with the reason
   */
  async take(seat: Seat): Promise<void> {
    const { server } = seat;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      const refusal = this.#refusal(seat);
      this.cancel(server, refusal);
      this.#onRefused(server, refusal.message);
    }, this.#waitMs);
    this.#waiting.set(server, { seat, admit: resolve, refuse: reject });
    this.settle();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Adds a seat that already has a place: its server was running when this runner started. */
  hold(seat: Seat): void {
    this.#held.set(seat.server, seat);
  }

  /** Gives the place back. */
  release(server: string): void {
    if (this.#held.delete(server)) this.settle();
  }

  /** Ends a server's wait for a place, if it waits. */
  cancel(server: string, error: RunnerError): void {
    const waiting = this.#waiting.get(server);
    this.#waiting.delete(server);
    waiting?.refuse(error);
  }

  get used(): number {
    return this.#held.size;
  }

  /** Servers that have one, by what they do. */
  get phases(): Readonly<Record<Occupant["phase"], number>> {
    const phases = { starting: 0, ready: 0, frozen: 0, stopping: 0 };
    for (const seat of this.#held.values()) phases[seat.look().phase] += 1;
    return phases;
  }

  /** Starts that wait for one. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether a start waits. Leases are then short, so that unused ones expire soon. */
  get isContended(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether a server starts or waits to. */
  get isStarting(): boolean {
    return this.isContended || [...this.#held.values()].some((seat) => seat.look().phase === "starting");
  }

  /** Memory in use, with the reserve for each server that has not been measured or waits to start. */
  get memoryBytes(): number {
    const { startReserveBytes } = this.budget;
    const held = [...this.#held.values()].map((seat) => seat.look().memoryBytes ?? startReserveBytes);
    return held.reduce((sum, bytes) => sum + bytes, this.#waiting.size * startReserveBytes);
  }

  /** Admits and evicts as decided. Call it whenever a seat has changed, and periodically. */
  settle(): void {
    const { admit, evict } = decide(this.#view());
    for (const server of admit) this.#admit(server);
    for (const server of evict) this.#evict(server);
  }

  #admit(server: string): void {
    const waiting = this.#waiting.get(server);
    if (waiting === undefined) return;
    this.#waiting.delete(server);
    this.#held.set(server, waiting.seat);
    this.#turn += 1;
    this.#servedAt.set(waiting.seat.organizationId, this.#turn);
    waiting.admit();
  }

  #evict(server: string): void {
    const seat = this.#held.get(server);
    if (seat === undefined) return;
    this.#leaving.add(server);
    void seat.evict().finally(() => {
      this.#leaving.delete(server);
      this.settle();
    });
  }

  #view(): View {
    const occupants = [...this.#held.values()].map((seat) => {
      const seen = seat.look();
      const phase = this.#leaving.has(seat.server) ? "stopping" : seen.phase;
      return { ...seen, ...waiterOf(seat), phase } satisfies Occupant;
    });
    const waiters = [...this.#waiting.values()].map(({ seat }) => waiterOf(seat));
    return { budget: this.budget, occupants, waiters, servedAt: this.#servedAt };
  }

  #refusal(seat: Seat): RunnerError {
    const shortage = shortageOf(this.#view(), waiterOf(seat)) ?? "starts";
    return new RunnerError("capacity", this.#describe(shortage, seat), { retryAfterMs });
  }

  #describe(shortage: Shortage, { callers }: Seat): string {
    const { maxInstances, maxStarting, memoryBytes, maxShare } = this.budget;
    const percent = Math.round(maxShare * 100);
    const memory = `${Math.floor(memoryBytes / mebibyte)} MiB`;
    switch (shortage) {
      case "share":
        return `The organization's servers in use take the ${percent} % of this machine that one organization may have. Try again when some are idle; the operator can set TOWPATH_MAX_ORGANIZATION_SHARE.`;
      case "callers":
        return `All ${callers?.most} instances for callers with values of their own are in use. Try again shortly; the server's owner can allow more under Settings, Environment variables.`;
      case "own starts":
      case "starts":
        return `Too many servers are starting at the same time (at most ${maxStarting}, of which one organization may have ${percent} %). Try again shortly; the operator can set TOWPATH_MAX_STARTING.`;
      case "places":
        return `All ${maxInstances} places for running servers are in use. Try again shortly; the operator can set TOWPATH_MAX_INSTANCES.`;
      case "memory":
        return `The servers in use take all ${memory} of memory that this machine has for servers. Try again shortly; the operator can set TOWPATH_MEMORY_MIB.`;
    }
  }
}

const waiterOf = ({ server, organizationId, callers }: Seat): Waiter => ({ server, organizationId, callers });
