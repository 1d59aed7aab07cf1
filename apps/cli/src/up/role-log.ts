import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * The log file of a role. One earlier file is kept, so that a full disk is never the price of a long life. Lines are
 * written at once: they are few (requests have their own log), and the last ones before an end matter most.
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

  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    try {
      this.#descriptor ??= this.#open();
      writeSync(this.#descriptor, bytes);
    } catch {
      // A full disk must not end what is logged about.
      return;
    }
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) this.close();
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
