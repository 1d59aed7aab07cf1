import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReadyMessage } from "@towpath/role";
import { CommandError, isVerbose, printError, yellow } from "../terminal/terminal.ts";
import {
  defaultRestartLimits,
  describePause,
  type RestartLimits,
  RestartPauses,
  type UnexpectedExit,
} from "./restart-pauses.ts";
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

/** Sent by a role over its IPC channel once it serves. Not read from its log, whose level the operator chooses. */
const isReady = (message: unknown): message is ReadyMessage =>
  typeof message === "object" && message !== null && "type" in message && message.type === "ready";

class FailedStart extends CommandError {
  override readonly name = "FailedStart";
  /** How it ended, and why if its log says so. */
  readonly reason: string;
  /** Its last log lines, for people. */
  readonly lines: readonly string[];
  /** The signal that ended it; null when it exited by itself or took too long. */
  readonly signal: NodeJS.Signals | null;

  constructor(role: string, lines: readonly string[], { how, isLate, signal }: FailedEnd) {
    super(`${role} ${how}. Its last log lines:${indented(lines)}`);
    const last = signal === null ? lines.at(-1) : undefined;
    this.reason = last === undefined ? how : `${how}: ${last}`;
    this.lines = lines;
    this.signal = isLate ? null : signal;
  }
}

type FailedEnd = { readonly how: string; readonly isLate: boolean; readonly signal: NodeJS.Signals | null };

const indented = (lines: readonly string[]) => lines.map((line) => `\n  ${line}`).join("");

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
  #states: StateLines;
  readonly #printed = new Set<string>();

  constructor(role: Role, logDirectory: string, limits: SupervisionLimits = defaultLimits) {
    this.name = role.name;
    this.#role = role;
    this.#limits = limits;
    this.#pauses = new RestartPauses(limits);
    this.#states = new StateLines(role.name);
    this.#log = new RoleLog(logDirectory, role.name, limits.maxLogBytes);
  }

  /** Resolves when the process is ready. @throws Error with its last log lines if it ends before. */
  start(): Promise<ReadyMessage> {
    const ready = Promise.withResolvers<ReadyMessage>();
    const child = spawn("setpriv", ["--pdeathsig", "TERM", "--", ...this.#role.command], {
      env: { ...this.#role.env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
    });
    this.#child = child;
    let readyAt: number | null = null;
    let isLate = false;
    // Kill it before giving up: it would keep the port that the next try needs.
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, this.#limits.readyWithinMs);
    const onLine = (line: string) => {
      if (this.#log.write(line)) this.#printed.clear();
      else if (isErrorLine(line)) this.#printOnce(readable([line]).join("\n"));
      this.#tail = [...this.#tail.slice(-14), line];
    };
    for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on("line", onLine);
    const onReady = (message: ReadyMessage) => {
      if (readyAt !== null) return;
      readyAt = performance.now();
      clearTimeout(timer);
      ready.resolve(message);
    };
    child.on("message", (message) => {
      if (isReady(message)) onReady(message);
    });
    void this.#waitUntilItServes(child, () => onReady({ type: "ready" }));
    child.once("error", (error) => ready.reject(error));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      this.#child = null;
      if (this.#stopping) return ready.resolve({ type: "ready" });
      if (readyAt === null) {
        const late = `was not ready within ${this.#limits.readyWithinMs / 1000} s`;
        const how = isLate ? late : `ended while starting (${signal ?? `status ${code}`})`;
        return ready.reject(new FailedStart(this.name, readable(this.#tail), { how, isLate, signal }));
      }
      this.#restart(signal ?? `status ${code}`, { readyForMs: performance.now() - readyAt, signal });
    });
    return ready.promise.finally(() => clearTimeout(timer));
  }

  /** Asks a program that can't report that it is ready. */
  async #waitUntilItServes(child: ChildProcess, onServing: () => void): Promise<void> {
    const { serves } = this.#role;
    if (serves === undefined) return;
    while (!(await serves())) {
      await sleep(100);
      if (this.#child !== child) return;
    }
    onServing();
  }

  /** Prints errors that the full disk can't log, each once. */
  #printOnce(text: string): void {
    const [first = ""] = text.split("\n");
    if (this.#printed.has(first)) return;
    this.#printed.add(first);
    printError(`${yellow("!")} ${this.name}: ${text}`);
  }

  #restart(how: string, end: UnexpectedExit): void {
    const pauseMs = this.#pauses.after(end);
    const restarting = `restarting ${describePause(pauseMs)}`;
    printError(`${yellow("!")} ${this.name} ended (${how}); ${restarting}. Log: ${this.#log.path}`);
    this.#startAfter(pauseMs);
  }

  #startAfter(pauseMs: number): void {
    setTimeout(() => {
      if (this.#stopping) return;
      this.start().then(
        () => this.#stopping || this.#states.started(),
        (error: unknown) => {
          if (this.#stopping) return;
          const failed = error instanceof FailedStart ? error : null;
          const reason = failed?.reason ?? (error instanceof Error ? error.message : String(error));
          const lines = isVerbose() ? (failed?.lines ?? []) : [];
          this.#states.failed(reason, ` Log: ${this.#log.path}${indented(lines)}`);
          this.#startAfter(this.#pauses.after({ readyForMs: null, signal: failed?.signal ?? null }));
        },
      );
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

/** pino's levels from `error` on. */
const isErrorLine = (line: string) => /^\{"level":[56]0,/.test(line);

/** Log lines for people: structured ones shortened to their messages, each text once, without stacks. */
function readable(lines: readonly string[]): readonly string[] {
  if (isVerbose()) return lines;
  const texts = withoutStacks(lines).map(messageOf);
  const bare = texts.map((text) => text.replace(/^(?:Uncaught )?\w*Error(?: \[\w+\])?: /, ""));
  return texts.filter((_, at) => bare.indexOf(bare[at] ?? "") === at);
}

const isOfStack = (line: string) => /^\s+at |^Node\.js v|^[\s^]*$/.test(line);
/** Where an error was thrown; the line of the source follows. */
const isPlace = (line: string) => /^(?:file:\/\/|node:|\/)\S*:\d+$/.test(line);

/** Without the lines that Node prints around the message of an uncaught error. */
function withoutStacks(lines: readonly string[]): string[] {
  let isProperty = false;
  return lines.filter((line, at) => {
    if (isProperty) {
      isProperty = line !== "}";
      return false;
    }
    // The last frame opens the list of the error's properties.
    isProperty = /^\s+at .*\{$/.test(line);
    return !isOfStack(line) && !isPlace(line) && !isPlace(lines[at - 1] ?? "");
  });
}

function messageOf(line: string): string {
  try {
    const parsed: unknown = JSON.parse(line);
    if (parsed && typeof parsed === "object" && "msg" in parsed) {
      const reason =
        "err" in parsed && parsed.err && typeof parsed.err === "object" && "message" in parsed.err
          ? String(parsed.err.message)
          : "";
      const message = String(parsed.msg);
      return reason === "" || message.includes(reason) ? message : `${message}: ${reason}`;
    }
  } catch {
    // Not JSON: keep the line.
  }
  return line;
}

/**
 * The log file of a role, rotated when full, with one earlier file. Lines are written synchronously: they are few
 * (requests have their own log), and the last ones before a crash matter most.
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

  /** False when the disk has no room. */
  write(line: string): boolean {
    const bytes = Buffer.from(`${line}\n`);
    try {
      this.#descriptor ??= this.#open();
      writeSync(this.#descriptor, bytes);
    } catch {
      // A full disk must not end the process that supervises.
      return false;
    }
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) this.close();
    return true;
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
