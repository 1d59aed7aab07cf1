import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { SandboxError } from "../../port/errors.ts";
import { type Command, type ProcessEnd, pipeOf, spawnChild } from "./child.ts";
import { ownerName } from "./tree.ts";

/** Part of a process's output. `position`: of its first byte in all of the output; absent: where the last part ended. */
export type OutputChunk = Buffer & { readonly position?: number };

/** A process that a ProcessHost has started. */
export type HostedProcess = {
  readonly pid: number;
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<ProcessEnd>;
  /** Whether this process knows that it has ended. */
  readonly hasEnded: boolean;
  /** What it writes to a descriptor that is `out`: a stream of OutputChunk. */
  output(descriptor: number): Readable;
  /** Output before this position is kept: the next process of the platform must not get it again. */
  kept(descriptor: number, position: number): void;
  /** Writes to a descriptor that is `in` and closes it when `end` is set. Ignored when the process has ended. */
  write(descriptor: number, text: string, end: boolean): void;
  signal(signal: NodeJS.Signals): void;
};

/** Starts processes and is, or represents, their parent: they end with it. */
export type ProcessHost = {
  /** Names the parent in what survives it, such as control groups and mounts. See `ownerName`. */
  owner(): Promise<string>;
  /**
   * Starts a process. All processes of one sandbox have the same `group`.
   * @throws SandboxError `setup_failed`
   */
  spawn(command: Command, group: string): Promise<HostedProcess>;
};

/** This process is the parent. */
export const localHost: ProcessHost = {
  owner: ownerName,
  async spawn(command) {
    const child = spawnChild(command);
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    try {
      await once(child, "spawn");
    } catch (error) {
      throw couldNotStart(command, error);
    }
    child.on("error", () => {});
    return {
      pid: child.pid ?? 0,
      exited,
      get hasEnded() {
        return child.exitCode !== null || child.signalCode !== null;
      },
      output: (descriptor) => required(pipeOf<Readable>(child, descriptor), descriptor),
      kept: () => {},
      write(descriptor, text, end) {
        const pipe = required(pipeOf<Writable>(child, descriptor), descriptor);
        if (end) pipe.end(text);
        else pipe.write(text);
      },
      signal: (signal) => void child.kill(signal),
    };
  },
};

export function couldNotStart(command: Command, cause: unknown): SandboxError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SandboxError("setup_failed", `${command.file} could not be started: ${reason}`, { cause });
}

function required<Pipe>(pipe: Pipe | undefined, descriptor: number): Pipe {
  if (pipe === undefined) throw new Error(`Descriptor ${descriptor} is not a pipe.`);
  return pipe;
}
