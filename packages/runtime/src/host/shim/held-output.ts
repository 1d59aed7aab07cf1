const maxHeldBytes = 64 * 1024;
/** A server that writes byte by byte must not cost the memory of a Buffer for each. */
const maxChunks = 64;

/** Output of one descriptor while no runner takes it: the newest 64 KiB. */
export class HeldOutput {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #droppedBytes = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= maxHeldBytes && this.#chunks.length <= maxChunks) return;
    const data = Buffer.concat(this.#chunks);
    const excess = Math.max(0, data.length - maxHeldBytes);
    // A copy, so that the rest does not keep all of it alive.
    this.#chunks = [Buffer.from(data.subarray(excess))];
    this.#bytes -= excess;
    this.#droppedBytes += excess;
  }

  /** What is held, and how many bytes were thrown away before it. Holds nothing afterwards. */
  take(): { readonly data: Buffer; readonly droppedBytes: number } {
    const taken = { data: Buffer.concat(this.#chunks), droppedBytes: this.#droppedBytes };
    this.#chunks = [];
    this.#bytes = 0;
    this.#droppedBytes = 0;
    return taken;
  }
}
