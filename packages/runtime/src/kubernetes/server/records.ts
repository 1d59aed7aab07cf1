import { storableText } from "../../host/process/lines.ts";
import { type PrewarmStatus, parsePrewarmStatus } from "../../host/server/harness-status.ts";
import { type LastLines, lineCutMark, type OutputSink, type OutputStream } from "../../port/execution.ts";
import type { DataUsage } from "../../port/host.ts";

/** See records.py. */
const record = /^([oOeExysup]) (\d{1,16}) (\d{1,16}) (.*)$/s;
const newline = 0x0a;
/** Nothing that the program writes is longer. */
const maxRecordBytes = 16 * 1024;

const streams: Readonly<Record<string, OutputStream>> = { o: "stdout", e: "stderr", x: "stdout", y: "stderr" };

/** What isn't output. */
export type RecordListeners = {
  readonly usage?: (usage: Omit<DataUsage, "id">) => void;
  /** An interpreter has imported, or can't be used. Again if the log is. */
  readonly prewarm?: (status: PrewarmStatus) => void;
};

/** Reads the log of a server's container, any number of times from its beginning, and passes each line on once. */
export class Records {
  readonly #onOutput: OutputSink;
  readonly #on: RecordListeners;
  /** By type of record: the number of lines that were dropped comes with the position of the line that follows. */
  readonly #last: Map<string, number>;
  /** Lines of the harness's stacks. */
  #stack: string[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;

  /** `last`: the last line of each stream that was passed on before. */
  constructor(onOutput: OutputSink, last: LastLines = {}, on: RecordListeners = {}) {
    this.#onOutput = onOutput;
    this.#on = on;
    this.#last = new Map([
      ["o", last.stdout ?? -1],
      ["e", last.stderr ?? -1],
    ]);
  }

  get stack(): readonly string[] {
    return this.#stack;
  }

  /** Begins at the log's beginning again. */
  restart(): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.#stack = [];
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#hold(chunk.subarray(from, at));
      const text = Buffer.concat(this.#held).toString("utf8");
      this.#held = [];
      this.#heldBytes = 0;
      from = at + 1;
      this.#read(text);
    }
    this.#hold(chunk.subarray(from));
  }

  #hold(part: Buffer): void {
    if (part.length === 0 || this.#heldBytes > maxRecordBytes) return;
    this.#held.push(part);
    this.#heldBytes += part.length;
  }

  #read(line: string): void {
    // The first line of a log whose beginning was removed may be incomplete.
    const [, type = "", position = "", time = "", text = ""] = record.exec(line) ?? [];
    if (type === "u") {
      const [usedBytes = 0, capacityBytes = 0] = text.split(" ").map(Number);
      this.#on.usage?.({ usedBytes, capacityBytes });
    }
    const status = type === "p" ? parsePrewarmStatus(text) : null;
    if (status !== null) this.#on.prewarm?.(status);
    if (type === "s") this.#stack.push(text);
    const kind = type.toLowerCase();
    const stream = streams[kind];
    const sequence = Number(position);
    if (stream === undefined || sequence <= (this.#last.get(kind) ?? -1)) return;
    this.#last.set(kind, sequence);
    const when = new Date(Number(time));
    if (type === "x" || type === "y") {
      const [lines, bytes] = text.split(" ");
      this.#onOutput(stream, droppedText(Number(lines), Number(bytes)), when, sequence);
    } else {
      const cut = type === type.toUpperCase() ? lineCutMark : "";
      this.#onOutput(stream, storableText(text.replace(/\r$/, "")) + cut, when, sequence);
    }
  }
}

/** The limits are in records.py. */
const droppedText = (lines: number, bytes: number) =>
  `… ${lines} lines (${bytes} bytes) dropped: more than 500 lines or 262144 bytes a second`;
