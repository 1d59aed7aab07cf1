import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Remembers resolutions, so that a push that changes no dependency neither asks the index again nor gets other
 * versions. Only the platform writes here.
 */
export class ResolutionMemory {
  readonly #directory: string;
  readonly #maxAgeMs: number;

  constructor(dataDirectory: string, maxAgeMs: number) {
    this.#directory = join(dataDirectory, "cache", "resolutions");
    this.#maxAgeMs = maxAgeMs;
  }

  /** The exact list, with its age in milliseconds; null when there is none or it is too old. */
  async recall(key: string): Promise<{ exact: string; ageMs: number } | null> {
    const path = join(this.#directory, key);
    const found = await stat(path).catch(() => null);
    if (found === null) return null;
    const ageMs = Date.now() - found.mtimeMs;
    return ageMs > this.#maxAgeMs ? null : { exact: await readFile(path, "utf8"), ageMs };
  }

  /** `unique` keeps two builds that remember the same from writing into one file. */
  async remember(key: string, exact: string, unique: string): Promise<void> {
    const path = join(this.#directory, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.${unique}`, exact);
    await rename(`${path}.${unique}`, path);
  }
}
