import { z } from "zod";
import type { Exit, Limits, OutputStream } from "../../port/execution.ts";
import type { SandboxSpec } from "../engine.ts";
import type { ProcessorUse } from "./processor-use.ts";

/** How often the kernel enforced a limit; null where it neither enforces nor counts. */
export type LimitEvents = {
  /** Processes killed because memory ran out. */
  readonly outOfMemory: number | null;
  /** Processes and threads that were refused. */
  readonly refusedProcesses: number | null;
  /** Periods in which the CPU quota ran out. */
  readonly throttledPeriods: number | null;
};

/** Processes and threads of a command, how many it may have, and how often it was refused another one. */
export type ProcessUse = { readonly used: number; readonly limit: number; readonly refused: number };

/** What a later runner needs to take over a started command from the shim. */
export const restorableSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("plain"), group: z.string(), pid: z.number().int() }),
  z.object({
    kind: z.literal("sandbox"),
    /** Absent in the records of earlier releases. */
    kernel: z.enum(["host", "gvisor"]).default("host"),
    group: z.string(),
    /** bubblewrap. */
    pid: z.number().int(),
    /** Parent of the command, as the host sees it: the first process of its namespace, or what a fork's parent is. */
    firstPid: z.number().int(),
    /** Limits that its control groups enforce. */
    limits: z.object({ memory: z.boolean(), processes: z.boolean(), cpu: z.boolean() }),
    /** Files to write before it is killed: frozen processes of cgroup version 1 take no signal. Path and content. */
    thaw: z.array(z.tuple([z.string(), z.string()]).readonly()).readonly(),
    /** Of a fork: the group of the sandbox that it ends with (forks/). */
    parent: z.string().optional(),
  }),
]);
export type Restorable = z.infer<typeof restorableSchema>;

/** A started command, isolated or not. */
export type RunningProcess = {
  readonly restorable: Restorable;
  /** Resolves with its exit when all its processes have ended and its output has been read. */
  readonly ended: Promise<Exit>;
  /** False as soon as the command begins to exit, before that is reported. */
  isAlive(): Promise<boolean>;
  /** Writes to its standard input and closes it. Only if its spec has `input`. */
  sendInput(text: string): void;
  /** Replaces the limits that control groups enforce: memory, processes, CPU. False if one could not be set. */
  limit(limits: Limits): Promise<boolean>;
  /** Sends a signal to the command. */
  signal(signal: "SIGTERM" | "SIGUSR1"): Promise<void>;
  /** SIGKILL to everything that it started. */
  kill(): Promise<void>;
  isFrozen(): Promise<boolean>;
  freeze(): Promise<boolean>;
  wake(): Promise<void>;
  memoryBytes(): Promise<number | null>;
  processorUse(): Promise<ProcessorUse>;
  limitEvents(): Promise<LimitEvents>;
  /** Null if the host doesn't limit the number of processes. */
  processUse(): Promise<ProcessUse | null>;
};

export type OutputReader = {
  /** A line, its size in bytes with the line end, and its sequence (see `OutputSink`). */
  readonly onLine: (stream: OutputStream, line: string, bytes: number, sequence: number) => void;
  /** Size of each chunk, before it is split. */
  readonly onBytes?: (bytes: number) => void;
  /** While it is closed, lines are only counted. */
  readonly gate?: {
    isOpen(): boolean;
    skip(stream: OutputStream, lines: number, bytes: number): void;
  };
};

/** Starts a command. Throws SandboxError when it cannot be set up. */
export type Spawner = (spec: SandboxSpec, reader: OutputReader) => Promise<RunningProcess>;
