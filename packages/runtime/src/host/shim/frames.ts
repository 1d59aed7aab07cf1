import type { Command } from "../process/child.ts";
import type { OutputChunk } from "../process/host.ts";

// The protocol between runner and shim: frames of a length (4 bytes, excluding itself), a kind (1 byte) and a body.
// Messages are JSON. Output is raw: process number (4 bytes), descriptor (1 byte), position of its first byte in all of the
// output (6 bytes), data.

/**
 * Incremented with every incompatible change. A shim runs the code of the runner that started it; a newer runner ends a
 * shim of another version. So frames, `attach`, `attached` and `shutdown` must never change.
 */
export const protocolVersion = 2;

const messageKind = 0;
const outputKind = 1;
const outputHeader = 16;

/** From the runner to the shim. */
export type Request =
  /** The first message. `parent` supervises the runner: when both are gone, everything ends at once. */
  | { readonly type: "attach"; readonly generation: number; readonly parent: string }
  | { readonly type: "spawn"; readonly call: number; readonly group: string; readonly command: WireCommand }
  | {
      readonly type: "write";
      readonly process: number;
      readonly descriptor: number;
      readonly text: string;
      readonly end: boolean;
    }
  | { readonly type: "signal"; readonly process: number; readonly signal: NodeJS.Signals }
  /** Marks a group as adoptable by a later runner. `atEnd`: files to write when everything ends. */
  | {
      readonly type: "keep";
      readonly group: string;
      readonly memo: string;
      readonly atEnd: readonly (readonly [path: string, value: string])[];
    }
  /**
   * The runner adopts the process: requests its exit if it has ended, and all output that no runner has kept, by
   * descriptor after these positions at least.
   */
  | { readonly type: "resume"; readonly process: number; readonly after: Readonly<Record<number, number>> }
  /** The runner has kept the output before this position. */
  | { readonly type: "kept"; readonly process: number; readonly descriptor: number; readonly position: number }
  /** Kills a group that no runner adopts. */
  | { readonly type: "discard"; readonly group: string }
  /** Ends everything and the shim. */
  | { readonly type: "shutdown" };

/** `content` in base64. */
type WireCommand = {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdio: readonly ("ignore" | "in" | "out" | { readonly content: string })[];
  readonly ownGroup: boolean;
};

export function commandOf({ stdio, ...command }: WireCommand): Command {
  const decoded = stdio.map((each) =>
    typeof each === "string" ? each : { content: Buffer.from(each.content, "base64") },
  );
  return { ...command, stdio: decoded };
}

export type ListedProcess = {
  readonly process: number;
  readonly pid: number;
  readonly group: string;
  /** Descriptors that are `out`. */
  readonly outputs: readonly number[];
};

/** From the shim to the runner. */
export type Response =
  /** A newer runner has taken over; the last message. */
  | { readonly type: "superseded" }
  | {
      readonly type: "attached";
      readonly version: number;
      readonly owner: string;
      readonly processes: readonly ListedProcess[];
      readonly memos: Readonly<Record<string, string>>;
    }
  | { readonly type: "spawned"; readonly call: number; readonly process: number; readonly pid: number }
  | { readonly type: "failed"; readonly call: number; readonly message: string }
  /** Number of bytes dropped before what comes next, because no runner took them for a while. */
  | { readonly type: "dropped"; readonly process: number; readonly descriptor: number; readonly bytes: number }
  | { readonly type: "closed"; readonly process: number; readonly descriptor: number }
  | {
      readonly type: "exited";
      readonly process: number;
      readonly code: number | null;
      readonly signal: string | null;
    };

export function encodeMessage(message: Request | Response): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(5);
  header.writeUInt32BE(body.length + 1, 0);
  header[4] = messageKind;
  return Buffer.concat([header, body]);
}

export function encodeOutput(processNumber: number, descriptor: number, position: number, data: Buffer): Buffer {
  const header = Buffer.alloc(outputHeader);
  header.writeUInt32BE(outputHeader - 4 + data.length, 0);
  header[4] = outputKind;
  header.writeUInt32BE(processNumber, 5);
  header[9] = descriptor;
  header.writeUIntBE(position, 10, 6);
  return Buffer.concat([header, data]);
}

/** Reassembles frames from chunks and calls back with each complete one, in order. The other side is trusted. */
export function frameReader<Message extends Request | Response>(
  onMessage: (message: Message) => void,
  onOutput: (processNumber: number, descriptor: number, chunk: OutputChunk) => void = () => {},
): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let needed = 4;
  return (chunk) => {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < needed) return;
    let rest = held.length === 1 ? chunk : Buffer.concat(held);
    while (rest.length >= 4) {
      needed = 4 + rest.readUInt32BE(0);
      if (rest.length < needed) break;
      if (rest[4] === messageKind) onMessage(JSON.parse(rest.toString("utf8", 5, needed)));
      else {
        const position = rest.readUIntBE(10, 6);
        onOutput(rest.readUInt32BE(5), rest[9] ?? 0, Object.assign(rest.subarray(outputHeader, needed), { position }));
      }
      rest = rest.subarray(needed);
      needed = 4;
    }
    held = [rest];
    heldBytes = rest.length;
  };
}
