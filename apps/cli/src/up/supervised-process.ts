import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { printError, yellow } from "../terminal/terminal.ts";
import { RoleLog } from "./role-log.ts";
import type { Role } from "./roles.ts";

export type SupervisionLimits = {
  readonly readyWithinMs: number;
  readonly largestLogBytes: number;
  /** First pause before a new start; doubles with each further one, up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Ran for this long: the next end counts as the first one. */
  readonly healthyAfterMs: number;
};

const defaultLimits: SupervisionLimits = {
  readyWithinMs: 60_000,
  largestLogBytes: 20 * 1024 * 1024,
  firstPauseMs: 500,
  longestPauseMs: 15_000,
  healthyAfterMs: 60_000,
};

/**
 * Runs one role, keeps its log in a file, and starts it again with growing pauses when it ends unasked.
 * The kernel ends the process when this one dies, so that a killed launcher leaves nothing behind.
 */
export class SupervisedProcess {
  readonly name: string;
  #role: Role;
  #limits: SupervisionLimits;
  #log: RoleLog;
  #child: ChildProcess | null = null;
  #stopping = false;
  #pauseMs: number;
  #startedAt = 0;
  #tail: string[] = [];

  constructor(role: Role, logDirectory: string, limits: SupervisionLimits = defaultLimits) {
    this.name = role.name;
    this.#role = role;
    this.#limits = limits;
    this.#pauseMs = limits.firstPauseMs;
    this.#log = new RoleLog(logDirectory, role.name, limits.largestLogBytes);
  }

  /** Resolves when the process says that it is ready. @throws Error with its last lines when it ends before. */
  start(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    const child = spawn(
      "setpriv",
      ["--pdeathsig", "TERM", "--", process.execPath, "--disable-warning=ExperimentalWarning", this.#role.entry],
      { env: { ...this.#role.env }, stdio: ["ignore", "pipe", "pipe"], detached: true },
    );
    this.#child = child;
    this.#startedAt = Date.now();
    let isReady = false;
    let isLate = false;
    // Ended before it is given up: a second one beside it would want the same port.
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, this.#limits.readyWithinMs);
    const onLine = (line: string) => {
      this.#log.write(line);
      this.#tail = [...this.#tail.slice(-14), line];
      if (!isReady && line.includes('"msg":"ready"')) {
        isReady = true;
        clearTimeout(timer);
        ready.resolve();
      }
    };
    createInterface({ input: child.stdout }).on("line", onLine);
    createInterface({ input: child.stderr }).on("line", onLine);
    child.once("error", (error) => ready.reject(error));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      this.#child = null;
      if (this.#stopping) return ready.resolve();
      if (!isReady) {
        const late = `was not ready within ${this.#limits.readyWithinMs / 1000} s`;
        const how = isLate ? late : `ended while starting (${signal ?? `status ${code}`})`;
        return ready.reject(new Error(this.#report(how)));
      }
      this.#restart(signal ?? `status ${code}`);
    });
    return ready.promise.finally(() => clearTimeout(timer));
  }

  #report(what: string): string {
    return `${this.name} ${what}. Its last words:\n${this.#tail.map((line) => `  ${readable(line)}`).join("\n")}`;
  }

  #restart(how: string): void {
    if (Date.now() - this.#startedAt > this.#limits.healthyAfterMs) this.#pauseMs = this.#limits.firstPauseMs;
    printError(
      `${yellow("!")} ${this.name} ended (${how}); it starts again in ${this.#pauseMs / 1000} s. Its log: ${this.#log.path}`,
    );
    setTimeout(() => {
      if (this.#stopping) return;
      this.start().catch((error: unknown) => {
        printError(error instanceof Error ? error.message : String(error));
        if (!this.#stopping) this.#restart("did not start");
      });
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#limits.longestPauseMs);
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
