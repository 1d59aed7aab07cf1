import { Bucket } from "@towpath/limits";

/** What is known of one caller, server or organization. */
export class Entry {
  readonly name: string;
  readonly bucket = new Bucket();
  /** Of a caller: refusals that are answered at once. */
  readonly refusals = new Bucket();
  /** Requests under way in this process. */
  open = 0;
  /** Milliseconds taken from the bucket that other processes have not been told of. */
  untoldMs = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** The entries of all that called lately. One whose bucket is full again says nothing, so it goes. */
export class Entries {
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Entry {
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = new Entry(name);
      this.#entries.set(name, entry);
    }
    return entry;
  }

  prune(now: number): void {
    for (const [name, { bucket, refusals, open, untoldMs }] of this.#entries) {
      const isFull = bucket.fullAt <= now && refusals.fullAt <= now;
      if (isFull && open === 0 && untoldMs === 0) this.#entries.delete(name);
    }
  }
}
