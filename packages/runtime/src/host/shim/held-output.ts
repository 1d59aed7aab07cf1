const maxHeldBytes = 64 * 1024;
/** A server that writes byte by byte must not cost the memory of a Buffer for each. */
const maxChunks = 64;

/** Output of one descriptor that no runner has kept yet: the newest 64 KiB. Positions count bytes from its beginning. */
export class HeldOutput {
  #chunks: Buffer[] = [];
  /** Positions of the first byte that is held, and after the last one. */
  #start = 0;
  #end = 0;
  #kept = 0;

  get end(): number {
    return this.#end;
  }

  /** The output that a runner has kept ends here. */
  get kept(): number {
    return this.#kept;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#end += chunk.length;
    if (this.#end - this.#start <= maxHeldBytes && this.#chunks.length <= maxChunks) return;
    const { data, position } = this.from(this.#end - maxHeldBytes);
    // A copy, so that the rest does not keep all of it alive.
    this.#chunks = [Buffer.from(data)];
    this.#start = position;
  }

  /** The output from this position on, or from the first byte that is held. */
  from(position: number): { readonly position: number; readonly data: Buffer } {
    const from = Math.min(Math.max(position, this.#start), this.#end);
    let at = this.#end;
    let first = this.#chunks.length;
    while (at > from) at -= this.#chunks[--first]?.length ?? 0;
    const [only = Buffer.alloc(0), ...more] = this.#chunks.slice(first);
    const data = more.length === 0 ? only : Buffer.concat([only, ...more]);
    return { position: from, data: data.subarray(from - at) };
  }

  /** Drops the output before this position. */
  keep(position: number): void {
    this.#kept = Math.max(this.#kept, position);
    const { data } = this.from(this.#kept);
    this.#chunks = data.length === 0 ? [] : [data];
    this.#start = this.#end - data.length;
  }
}
