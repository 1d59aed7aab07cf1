export type Limits = {
  /** Bytes of memory, for all processes of the sandbox together. */
  readonly memoryBytes: number;
  /** Processes and threads together. */
  readonly processes: number;
  /** CPU cores; fractions are allowed. */
  readonly cpus: number;
  /** Size of the sandbox's private /tmp in bytes. */
  readonly tmpBytes: number;
  /** Maximum size of a file in bytes; unlimited if omitted. */
  readonly fileBytes?: number;
};

/** `none`: only a loopback of its own. `internet`: outgoing only, never the host's loopback. */
export type Network = "none" | "internet";

export type OutputStream = "stdout" | "stderr";

/** Longer lines are cut. */
export const maxLineBytes = 8 * 1024;
/** Marks a line whose end was cut. */
export const lineCutMark = ` … [line cut at ${maxLineBytes / 1024} KiB]`;

/**
 * Called with complete lines without line end. `sequence` grows with each line of an instance and stream, and is the
 * same whichever runner reads it; the driver's own lines have none. A line that the sink has not kept by the end of the
 * turn of the event loop may be lost with this process.
 */
export type OutputSink = (stream: OutputStream, line: string, time: Date, sequence?: number) => void;

/** The last line of each stream that an earlier runner has kept; absent: none. */
export type LastLines = { readonly [Stream in OutputStream]?: number };

export type ExitReason =
  | "exited"
  | "signaled"
  | "out-of-memory"
  /** Its parent process, which belongs to the platform, ended: nothing was wrong with the server. */
  | "platform-ended"
  /** A server that was stuck at its limit of processes and threads. */
  | "process-limit"
  | "timed-out"
  | "stopped"
  | "output-limit"
  | "disk-limit"
  | "disk-full";

export type Exit = {
  readonly reason: ExitReason;
  /** Exit status when it exited by itself, else null. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Why the platform ended it, to follow a colon, without a period; absent: its parent process ended. */
  readonly detail?: string;
};
