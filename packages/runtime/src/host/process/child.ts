import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import type { Writable } from "node:stream";
import type { Exit } from "../../port/execution.ts";

/**
 * One descriptor of a command: closed, a pipe that it reads, a pipe that it writes, or data that it reads to the end.
 */
export type Stdio = "ignore" | "in" | "out" | { readonly content: string | Uint8Array };

/** A command without a shell. Nothing of the platform's environment is added to `env`. */
export type Command = {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** By descriptor number. Only the first three may be ignored. */
  readonly stdio: readonly Stdio[];
  /** Makes it the leader of a process group of its own. */
  readonly ownGroup?: boolean;
};

/** How a process ended; both are null if it didn't start. `lostParent`: the shim ended, and it with the shim. */
export type ProcessEnd = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly lostParent?: true;
};

/**
 * Starts a command as a child of this process. No descriptor but those in `stdio` reaches it. A failure to start is
 * reported by the child's `error` event.
 */
export function spawnChild(command: Command): ChildProcess {
  const pipes = command.stdio.map((each) => (each === "ignore" ? "ignore" : "pipe"));
  const child = spawn(command.file, command.argv, {
    // "ignore" would leave a descriptor above 2 as it is.
    stdio: [...pipes, ...maskInherited(pipes.length)],
    env: { ...command.env },
    cwd: command.cwd,
    detached: command.ownGroup === true,
  });
  command.stdio.forEach((each, descriptor) => {
    if (each === "ignore" || each === "out") return;
    const pipe = pipeOf<Writable>(child, descriptor);
    // The child may end before it has read everything; its exit status says why.
    pipe?.on("error", () => {});
    if (each !== "in") pipe?.end(each.content);
  });
  return child;
}

export function pipeOf<Pipe>(child: ChildProcess, descriptor: number): Pipe | undefined {
  return (child.stdio as readonly unknown[])[descriptor] as Pipe | undefined;
}

/** The entries after the first `used` in a child's `stdio`, so that it inherits no descriptor. */
export function maskInherited(used: number): number[] {
  const count = Math.max(0, ...inheritedDescriptors().map((descriptor) => descriptor + 1 - used));
  return Array<number>(count).fill(nullDevice());
}

const closeOnExec = 0o2000000;
/** Higher descriptors are not masked; the self-test then finds them open and refuses. */
const maxMasked = 1023;
let inherited: readonly number[] | null = null;

/**
 * Descriptors that this process inherited. Unlike those that Node opens, they survive an exec and would be open in the
 * sandbox. Node can't close them, but a child can get /dev/null instead. Listed once, because none are added later.
 */
function inheritedDescriptors(): readonly number[] {
  inherited ??= readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && descriptor <= maxMasked && !closesOnExec(descriptor));
  return inherited;
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0;
  } catch {
    // Closed since: it was the descriptor of the listing itself.
    return true;
  }
}

let nullDescriptor: number | null = null;

/** A descriptor of /dev/null, open for the life of the process. */
function nullDevice(): number {
  nullDescriptor ??= openSync("/dev/null", "r");
  return nullDescriptor;
}

// Some numbers have two names; the common one comes first in the table (SIGABRT before SIGIOT).
const names = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .toReversed(),
);

/** Name of a signal by its number, for example 9 → SIGKILL. */
function signalName(number: number): string {
  return names.get(number) ?? `signal ${number}`;
}

/** The exit of a process that was not stopped. bubblewrap and shells report signal n as status 128 + n. */
export function naturalExit({ code, signal, lostParent }: ProcessEnd): Exit {
  if (lostParent) return { reason: "platform-ended", code: null, signal: null };
  if (signal !== null) return { reason: "signaled", code: null, signal };
  if (code !== null && code > 128 && code <= 128 + 64)
    return { reason: "signaled", code: null, signal: signalName(code - 128) };
  return { reason: "exited", code, signal: null };
}
