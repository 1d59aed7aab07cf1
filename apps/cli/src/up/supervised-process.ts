import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { printError, yellow } from "../terminal/terminal.ts";
import { defaultRestartLimits, inWords, type RestartLimits, RestartPauses, type UnaskedEnd } from "./restart-pauses.ts";
import { RoleLog } from "./role-log.ts";
import type { Role } from "./roles.ts";

export type SupervisionLimits = RestartLimits & {
  readonly readyWithinMs: number;
  readonly maxLogBytes: number;
};

const defaultLimits: SupervisionLimits = {
  readyWithinMs: 60_000,
  maxLogBytes: 20 * 1024 * 1024,
  ...defaultRestartLimits,
};

/**
 * Sent by a role over its IPC channel once it serves. Its log is no sign: the operator may choose a level without it.
 */
const readyMessage = "ready";

class FailedStart extends Error {
  /** From outside; null when it ended by itself or was given up. */
  readonly signal: NodeJS.Signals | null;

  constructor(message: string, signal: NodeJS.Signals | null) {
    super(message);
    this.signal = signal;
  }
}

/**
 * Runs one role, keeps its log in a file, and starts it again when it ends unasked.
 * The kernel ends the process when this one dies, so that a killed launcher leaves nothing behind.
 */
export class SupervisedProcess {
  readonly name: string;
  #role: Role;
  #limits: SupervisionLimits;
  #log: RoleLog;
  #child: ChildProcess | null = null;
  #stopping = false;
  #pauses: RestartPauses;
  #tail: string[] = [];

  constructor(role: Role, logDirectory: string, limits: SupervisionLimits = defaultLimits) {
    this.name = role.name;
    this.#role = role;
    this.#limits = limits;
    this.#pauses = new RestartPauses(limits);
    this.#log = new RoleLog(logDirectory, role.name, limits.maxLogBytes);
  }

  /** Resolves when the process says that it is ready. @throws Error with its last lines when it ends before. */
  start(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    const child = spawn(
      "setpriv",
      ["--pdeathsig", "TERM", "--", process.execPath, "--disable-warning=ExperimentalWarning", this.#role.entry],
      { env: { ...this.#role.env }, stdio: ["ignore", "pipe", "pipe", "ipc"], detached: true },
    );
    this.#child = child;
    let readyAt: number | null = null;
    let isLate = false;
    // Ended before it is given up: a second one beside it would want the same port.
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, this.#limits.readyWithinMs);
    const onLine = (line: string) => {
      this.#log.write(line);
      this.#tail = [...this.#tail.slice(-14), line];
    };
    for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on("line", onLine);
    child.on("message", (message) => {
      if (message !== readyMessage || readyAt !== null) return;
      readyAt = performance.now();
      clearTimeout(timer);
      ready.resolve();
    });
    child.once("error", (error) => ready.reject(error));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      this.#child = null;
      if (this.#stopping) return ready.resolve();
      if (readyAt === null) {
        const late = `was not ready within ${this.#limits.readyWithinMs / 1000} s`;
        const how = isLate ? late : `ended while starting (${signal ?? `status ${code}`})`;
        return ready.reject(new FailedStart(this.#report(how), isLate ? null : signal));
      }
      this.#restart(signal ?? `status ${code}`, { readyForMs: performance.now() - readyAt, signal });
    });
    return ready.promise.finally(() => clearTimeout(timer));
  }

  #report(what: string): string {
    return `${this.name} ${what}. Its last words:\n${this.#tail.map((line) => `  ${readable(line)}`).join("\n")}`;
  }

  #restart(how: string, end: UnaskedEnd): void {
    const pauseMs = this.#pauses.after(end);
    printError(
      `${yellow("!")} ${this.name} ended (${how}); it starts again ${inWords(pauseMs)}. Its log: ${this.#log.path}`,
    );
    setTimeout(() => {
      if (this.#stopping) return;
      this.start().catch((error: unknown) => {
        printError(error instanceof Error ? error.message : String(error));
        const signal = error instanceof FailedStart ? error.signal : null;
        if (!this.#stopping) this.#restart("did not start", { readyForMs: null, signal });
      });
    }, pauseMs);
  }

  /** SIGTERM now, SIGKILL after `graceMs`. Resolves when the process is gone. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child?.pid === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
    await gone;
    clearTimeout(timer);
    this.#log.close();
  }
}

/** Structured log lines shortened to their message for people. */
function readable(line: string): string {
  try {
    const parsed: unknown = JSON.parse(line);
    if (parsed && typeof parsed === "object" && "msg" in parsed) {
      const message =
        "err" in parsed && parsed.err && typeof parsed.err === "object" && "message" in parsed.err
          ? `: ${parsed.err.message}`
          : "";
      return `${parsed.msg}${message}`;
    }
  } catch {
    // Not JSON: as it is.
  }
  return line;
}
