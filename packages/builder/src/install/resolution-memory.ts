import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Keeps resolutions, so that a push that changes no dependency gets the same versions without asking the index again.
 */
export class ResolutionMemory {
  readonly #directory: string;
  readonly #maxAgeMs: number;

  constructor(dataDirectory: string, maxAgeMs: number) {
    this.#directory = join(dataDirectory, "cache", "resolutions");
    this.#maxAgeMs = maxAgeMs;
  }

  /** The list that uv wrote and its age in milliseconds; null when there is none or it is too old. */
  async recall(key: string): Promise<{ list: string; ageMs: number } | null> {
    const path = join(this.#directory, key);
    const found = await stat(path).catch(() => null);
    if (found === null) return null;
    const ageMs = Date.now() - found.mtimeMs;
    return ageMs > this.#maxAgeMs ? null : { list: await readFile(path, "utf8"), ageMs };
  }

  /** `unique` keeps two builds with the same key from writing to one file. */
  async remember(key: string, list: string, unique: string): Promise<void> {
    const path = join(this.#directory, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.${unique}`, list);
    await rename(`${path}.${unique}`, path);
  }
}
