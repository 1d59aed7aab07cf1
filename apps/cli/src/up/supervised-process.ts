import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, renameSync, statSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { printError, yellow } from "../terminal/terminal.ts";
import type { Role } from "./roles.ts";

const largestLogBytes = 20 * 1024 * 1024;
const readyWithinMs = 60_000;

/** Keeps one earlier log, so that a full disk is never the price of a long life. */
function openLog(directory: string, name: string): WriteStream {
  const path = join(directory, `${name}.log`);
  if (existsSync(path) && statSync(path).size > largestLogBytes) renameSync(path, `${path}.1`);
  return createWriteStream(path, { flags: "a", mode: 0o600 });
}

/**
 * Runs one role, keeps its log in a file, and starts it again with growing pauses when it ends unasked.
 * The kernel ends the process when this one dies, so that a killed launcher leaves nothing behind.
 */
export class SupervisedProcess {
  readonly name: string;
  #role: Role;
  #log: WriteStream;
  #child: ChildProcess | null = null;
  #stopping = false;
  #pauseMs = 500;
  #tail: string[] = [];

  constructor(role: Role, logDirectory: string) {
    this.name = role.name;
    this.#role = role;
    this.#log = openLog(logDirectory, role.name);
  }

  /** Resolves when the process says that it is ready. @throws Error with its last lines when it ends before. */
  start(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    const timer = setTimeout(() => ready.reject(new Error(this.#report("was not ready within 60 s"))), readyWithinMs);
    const child = spawn(
      "setpriv",
      ["--pdeathsig", "TERM", "--", process.execPath, "--disable-warning=ExperimentalWarning", this.#role.entry],
      { env: { ...this.#role.env }, stdio: ["ignore", "pipe", "pipe"], detached: true },
    );
    this.#child = child;
    let isReady = false;
    const onLine = (line: string) => {
      this.#log.write(`${line}\n`);
      this.#tail = [...this.#tail.slice(-14), line];
      if (!isReady && line.includes('"msg":"ready"')) {
        isReady = true;
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
      if (!isReady)
        return ready.reject(new Error(this.#report(`ended while starting (${signal ?? `status ${code}`})`)));
      this.#restart(signal ?? `status ${code}`);
    });
    return ready.promise.finally(() => clearTimeout(timer));
  }

  #report(what: string): string {
    return `${this.name} ${what}. Its last words:\n${this.#tail.map((line) => `  ${readable(line)}`).join("\n")}`;
  }

  #restart(how: string): void {
    printError(
      `${yellow("!")} ${this.name} ended (${how}); it starts again in ${this.#pauseMs / 1000} s. Its log: logs/${this.name}.log`,
    );
    const begun = Date.now();
    setTimeout(() => {
      if (this.#stopping) return;
      this.start().catch((error: unknown) => {
        printError(error instanceof Error ? error.message : String(error));
        if (!this.#stopping) this.#restart("did not start");
      });
    }, this.#pauseMs);
    this.#pauseMs = Date.now() - begun > 60_000 ? 500 : Math.min(this.#pauseMs * 2, 15_000);
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
    this.#log.end();
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
