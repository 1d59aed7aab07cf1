import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isVerbose } from "../terminal/terminal.ts";

/**
 * The log file of a role, rotated when full, with one earlier file. Lines are written synchronously: they are few
 * (requests have their own log), and the last ones before a crash matter most.
 */
export class RoleLog {
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

/** pino's levels from `error` on. */
export const isErrorLine = (line: string) => /^\{"level":[56]0,/.test(line);

/** Log lines for people: structured ones shortened to their messages, each text once, without stacks. */
export function readable(lines: readonly string[]): readonly string[] {
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
