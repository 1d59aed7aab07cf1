import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { printError, yellow } from "../terminal/terminal.ts";
import {
  defaultRestartLimits,
  describePause,
  type RestartLimits,
  RestartPauses,
  type UnexpectedExit,
} from "./restart-pauses.ts";
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

/** Sent by a role over its IPC channel once it serves. Its log can't tell: the operator may choose a level without it. */
const readyMessage = "ready";

class FailedStart extends Error {
  /** The signal that ended it; null when it exited by itself or took too long. */
  readonly signal: NodeJS.Signals | null;

  constructor(message: string, signal: NodeJS.Signals | null) {
    super(message);
    this.signal = signal;
  }
}

/**
 * Runs one role, keeps its log in a file, and restarts it when it ends unexpectedly.
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
    // Kill it before giving up: it would hold the port that the next try needs.
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
    return `${this.name} ${what}. Its last log lines:\n${this.#tail.map((line) => `  ${readable(line)}`).join("\n")}`;
  }

  #restart(how: string, end: UnexpectedExit): void {
    const pauseMs = this.#pauses.after(end);
    printError(
      `${yellow("!")} ${this.name} ended (${how}); restarting ${describePause(pauseMs)}. Log: ${this.#log.path}`,
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

  /** Its role's signal now, SIGKILL after `graceMs`. Resolves when the process is gone. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child?.pid === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
    child.kill(this.#role.stopSignal);
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
    // Not JSON: keep the line.
  }
  return line;
}

/**
 * The log file of a role. When it is full it is rotated, and one earlier file is kept. Lines are written synchronously:
 * they are few (requests have their own log), and the last ones before a crash matter most.
 */
class RoleLog {
  readonly path: string;
  readonly #maxBytes: number;
  #descriptor: number | null = null;
  #bytes = 0;

  constructor(directory: string, name: string, maxBytes: number) {
    this.path = join(directory, `${name}.log`);
    this.#maxBytes = maxBytes;
  }

  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    try {
      this.#descriptor ??= this.#open();
      writeSync(this.#descriptor, bytes);
    } catch {
      // A full disk must not end the process that supervises.
      return;
    }
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) this.close();
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #open(): number {
    const found = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    const isFull = found > this.#maxBytes;
    if (isFull) renameSync(this.path, `${this.path}.1`);
    this.#bytes = isFull ? 0 : found;
    return openSync(this.path, "a", 0o600);
  }
}
