import { type ReadyMessage, stopLimits } from "@towpath/role";
import { isVerbose, printError, yellow } from "../terminal/terminal.ts";
import { defaultRestartLimits, describePause, type RestartLimits, RestartPauses } from "./restart-pauses.ts";
import { isErrorLine, RoleLog, readable } from "./role-log.ts";
import { describeFailure, FailedStart, indented, RoleRun, type RunEnd } from "./role-run.ts";
import type { Role } from "./roles.ts";
import { StateLines } from "./state-lines.ts";

export type SupervisionLimits = RestartLimits & {
  readonly readyWithinMs: number;
  readonly maxLogBytes: number;
};

const defaultLimits: SupervisionLimits = {
  readyWithinMs: 60_000,
  maxLogBytes: 20 * 1024 * 1024,
  ...defaultRestartLimits,
};

/** Runs one role, keeps its log in a file, restarts it when it ends unexpectedly, and replaces it by another release. */
export class SupervisedProcess {
  readonly name: Role["name"];
  #role: Role;
  readonly #limits: SupervisionLimits;
  readonly #log: RoleLog;
  /** The process that takes the role's work; null between two. */
  #current: RoleRun | null = null;
  /** All that exist: also one that is to become the current one, and those that were replaced and still end their work. */
  readonly #runs = new Set<RoleRun>();
  #stopping = false;
  readonly #pauses: RestartPauses;
  readonly #states: StateLines;
  readonly #printed = new Set<string>();

  constructor(role: Role, logDirectory: string, limits: SupervisionLimits = defaultLimits) {
    this.name = role.name;
    this.#role = role;
    this.#limits = limits;
    this.#pauses = new RestartPauses(limits);
    this.#states = new StateLines(role.name);
    this.#log = new RoleLog(logDirectory, role.name, limits.maxLogBytes);
  }

  /** Whether the former process ends before its successor starts. */
  get runsAlone(): boolean {
    return this.#role.runsAlone;
  }

  /** Resolves when the process is ready. @throws Error with its last log lines if it ends before. */
  start(): Promise<ReadyMessage> {
    const run = this.#run(this.#role);
    this.#makeCurrent(run);
    return run.ready;
  }

  /**
   * Runs another command in place of this one. Resolves when its process is ready. Where a role's processes may run side
   * by side, the former one then ends what it has begun, in the background; it goes on when the new one does not get
   * ready. Where not, the former one ends first.
   *
   * @throws Error with the new process's last log lines; when the former one has ended, the new one is tried again
   */
  async replace(command: readonly string[]): Promise<void> {
    const role = { ...this.#role, command };
    if (role.runsAlone) return await this.#restartAs(role);
    const run = this.#run(role);
    await run.ready;
    if (this.#stopping) return;
    const former = this.#current;
    this.#role = role;
    this.#makeCurrent(run);
    void former?.retire();
  }

  async #restartAs(role: Role): Promise<void> {
    const former = this.#current;
    this.#role = role;
    this.#current = null;
    await former?.stop("SIGTERM", stopLimits.killMs);
    if (this.#stopping) return;
    await this.start().catch((error: unknown) => {
      this.#retry(error);
      throw error;
    });
  }

  #run(role: Role): RoleRun {
    const { readyWithinMs } = this.#limits;
    const run = new RoleRun(role, { readyWithinMs, onLine: (line) => this.#takeLine(line) });
    this.#runs.add(run);
    void run.ended.then(() => this.#runs.delete(run));
    return run;
  }

  #makeCurrent(run: RoleRun): void {
    this.#current = run;
    void run.ended.then((end) => {
      if (this.#current !== run) return;
      this.#current = null;
      if (!this.#stopping && end.readyForMs !== null) this.#restart(end);
    });
  }

  #takeLine(line: string): void {
    if (this.#log.write(line)) this.#printed.clear();
    else if (isErrorLine(line)) this.#printOnce(readable([line]).join("\n"));
  }

  /** Prints errors that the full disk can't log, each once. */
  #printOnce(text: string): void {
    const [first = ""] = text.split("\n");
    if (this.#printed.has(first)) return;
    this.#printed.add(first);
    printError(`${yellow("!")} ${this.name}: ${text}`);
  }

  #restart(end: RunEnd): void {
    const pauseMs = this.#pauses.after(end);
    const restarting = `restarting ${describePause(pauseMs)}`;
    printError(`${yellow("!")} ${this.name} ended (${end.how}); ${restarting}. Log: ${this.#log.path}`);
    this.#startAfter(pauseMs);
  }

  #startAfter(pauseMs: number): void {
    setTimeout(() => {
      // Another command may have taken its place.
      if (this.#stopping || this.#current !== null) return;
      this.start().then(
        () => this.#stopping || this.#states.started(),
        (error: unknown) => this.#retry(error),
      );
    }, pauseMs);
  }

  #retry(error: unknown): void {
    if (this.#stopping || this.#current !== null) return;
    const failed = error instanceof FailedStart ? error : null;
    const lines = isVerbose() ? (failed?.lines ?? []) : [];
    this.#states.failed(describeFailure(error), ` Log: ${this.#log.path}${indented(lines)}`);
    this.#startAfter(this.#pauses.after({ readyForMs: null, signal: failed?.signal ?? null }));
  }

  /** Its role's signal now, SIGKILL after `graceMs`. Resolves when all its processes are gone. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const { stopSignal } = this.#role;
    await Promise.all([...this.#runs].map((run) => run.stop(stopSignal, graceMs)));
    this.#log.close();
  }
}
