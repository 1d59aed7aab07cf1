import { Bucket } from "@towpath/limits";

/** What is known of one caller, server or organization, or of the refusals of a network. */
export class Entry {
  readonly name: string;
  readonly bucket = new Bucket();
  /** Requests under way in this process. */
  open = 0;
  /** Milliseconds taken from the bucket that have not been sent to other processes. */
  unsentMs = 0;

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
    for (const [name, { bucket, open, unsentMs }] of this.#entries) {
      if (bucket.fullAt <= now && open === 0 && unsentMs === 0) this.#entries.delete(name);
    }
  }
}
