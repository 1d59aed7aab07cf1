import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { ArtifactError, type ArtifactStore } from "@towpath/artifacts";
import { z } from "zod";

export type ResolutionStore = Pick<ArtifactStore, "add" | "get" | "resolve" | "tag">;

const dayMs = 86_400_000;
const storedSchema = z.object({ list: z.string(), at: z.number() });

/**
 * Keeps resolutions for up to a day, so that a push that changes no dependency gets the same versions without querying
 * the index again. They are artifacts that no build refers to, so retention removes them. A tag can't change, so there
 * is one for each day.
 */
export class ResolutionMemory {
  readonly #store: ResolutionStore;
  readonly #maxAgeMs: number;

  constructor(store: ResolutionStore, maxAgeMs: number) {
    this.#store = store;
    this.#maxAgeMs = Math.min(maxAgeMs, dayMs);
  }

  /** uv's list and its age in milliseconds; null if there is none or it is too old. */
  async recall(key: string): Promise<{ list: string; ageMs: number } | null> {
    const now = Date.now();
    for (const name of [tagOf(key, now), tagOf(key, now - dayMs)]) {
      const digest = await this.#store.resolve(name);
      if (digest === null) continue;
      const stored = await this.#read(digest);
      if (stored === null) continue;
      const { list, at } = storedSchema.parse(JSON.parse(stored));
      return now - at > this.#maxAgeMs ? null : { list, ageMs: now - at };
    }
    return null;
  }

  /** Null if it is gone or damaged. */
  async #read(digest: string): Promise<string | null> {
    try {
      return await text(await this.#store.get(digest));
    } catch (error) {
      if (error instanceof ArtifactError) return null;
      throw error;
    }
  }

  async remember(key: string, list: string): Promise<void> {
    const at = Date.now();
    const digest = await this.#store.add(bytesOf(JSON.stringify({ list, at })));
    await this.#store.tag(tagOf(key, at), digest);
  }
}

const digestOf = (content: string) => createHash("sha256").update(content).digest("hex");
const tagOf = (key: string, at: number) => digestOf(`resolution ${key} ${Math.floor(at / dayMs)}`);

async function* bytesOf(content: string) {
  yield Buffer.from(content);
}
