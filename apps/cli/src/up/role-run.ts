import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type ReadyMessage, replacedLimits, replacedMessage } from "@towpath/role";
import { CommandError } from "../terminal/terminal.ts";
import { readable } from "./role-log.ts";
import type { Role } from "./roles.ts";

/** Sent by a role over its IPC channel once it serves. Not read from its log, whose level the operator chooses. */
const isReady = (message: unknown): message is ReadyMessage =>
  typeof message === "object" && message !== null && "type" in message && message.type === "ready";

const maxTailLines = 15;
const outputWithinMs = 250;

type FailedEnd = { readonly how: string; readonly isLate: boolean; readonly signal: NodeJS.Signals | null };

export const indented = (lines: readonly string[]) => lines.map((line) => `\n  ${line}`).join("");

export class FailedStart extends CommandError {
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

/** Why a process could not start, in one line. */
export function describeFailure(error: unknown): string {
  if (error instanceof FailedStart) return error.reason;
  return error instanceof Error ? error.message : String(error);
}

export type RunEnd = {
  /** How long it had been ready, milliseconds; null when it ended before. */
  readonly readyForMs: number | null;
  /** The signal that killed it; null when it exited. */
  readonly signal: NodeJS.Signals | null;
  /** Such as "status 1". */
  readonly how: string;
};

/**
 * One process of a role, from its start to its end. The kernel ends it when this process dies, so that a killed launcher
 * leaves nothing behind.
 */
export class RoleRun {
  /** Rejects with FailedStart when the process ends before it is ready. */
  readonly ready: Promise<ReadyMessage>;
  readonly ended: Promise<RunEnd>;
  readonly #child: ChildProcess;
  readonly #role: Role;
  #readyAt: number | null = null;
  #isLate = false;
  #isStopping = false;
  #tail: string[] = [];

  constructor(role: Role, { readyWithinMs, onLine }: { readyWithinMs: number; onLine: (line: string) => void }) {
    this.#role = role;
    // The listening socket is descriptor 3, as systemd has it (sd_listen_fds(3)).
    const sockets = role.socket === null ? [] : [role.socket];
    const child = spawn("setpriv", ["--pdeathsig", "TERM", "--", ...role.command], {
      env: { ...role.env, ...(role.socket !== null && { LISTEN_FDS: "1" }) },
      stdio: ["ignore", "pipe", "pipe", ...sockets, "ipc"],
      detached: true,
    });
    this.#child = child;
    const take = (line: string) => {
      onLine(line);
      this.#tail = [...this.#tail.slice(1 - maxTailLines), line];
    };
    for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on("line", take);
    // Kill it before giving up: the next try must not run beside it.
    const timer = setTimeout(() => {
      this.#isLate = true;
      child.kill("SIGKILL");
    }, readyWithinMs);
    const ready = Promise.withResolvers<ReadyMessage>();
    const onReady = (message: ReadyMessage) => {
      if (this.#readyAt !== null) return;
      this.#readyAt = performance.now();
      clearTimeout(timer);
      ready.resolve(message);
    };
    child.on("message", (message) => {
      if (isReady(message)) onReady(message);
    });
    if (role.serves) void this.#waitUntilItServes(role.serves, () => onReady({ type: "ready" }));
    child.once("error", (error) => ready.reject(error));
    const closed = once(child, "close");
    this.ended = new Promise((resolve) => {
      child.once("exit", async (code, signal) => {
        clearTimeout(timer);
        // For its last lines. Workers of the gateway, which end their requests, may hold its output open for longer.
        await Promise.race([closed, sleep(outputWithinMs)]);
        const how = signal ?? `status ${code}`;
        const readyForMs = this.#readyAt === null ? null : performance.now() - this.#readyAt;
        // First, so that whoever learns of the failed start finds it ended.
        resolve({ readyForMs, signal, how });
        // After `stop` nobody waits for its work.
        if (this.#isStopping) ready.resolve({ type: "ready" });
        else ready.reject(this.#failedStart(how, signal, readyWithinMs));
      });
    });
    this.ready = ready.promise;
    this.ready.catch(() => {});
  }

  /** Asks a program that can't report that it is ready. */
  async #waitUntilItServes(serves: () => Promise<boolean>, onServing: () => void): Promise<void> {
    while (!(await serves())) {
      await sleep(100);
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    }
    onServing();
  }

  #failedStart(end: string, signal: NodeJS.Signals | null, readyWithinMs: number): FailedStart {
    const late = `was not ready within ${readyWithinMs / 1000} s`;
    const how = this.#isLate ? late : `ended while starting (${end})`;
    return new FailedStart(this.#role.name, readable(this.#tail), { how, isLate: this.#isLate, signal });
  }

  /** `signal` now, SIGKILL after `graceMs`. Resolves when the process is gone. */
  async stop(signal: NodeJS.Signals, graceMs: number): Promise<void> {
    this.#isStopping = true;
    if (this.#child.pid === undefined) return;
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** Lets it end what it has begun, because another process has taken its place. Resolves when it is gone. */
  async retire(): Promise<void> {
    this.#isStopping = true;
    // One that is still starting has begun nothing, and doesn't listen to messages.
    if (this.#readyAt === null || !this.#child.connected) return await this.stop("SIGKILL", 0);
    this.#child.send(replacedMessage);
    const killMs = this.#role.replacedKillMs ?? replacedLimits.killMs;
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), killMs);
    await this.ended;
    clearTimeout(timer);
  }
}
