import { sha256 } from "@towpath/crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import {
  type IssuerKey,
  type IssuerKeys,
  IssuerKeysError,
  type IssuerReach,
  type KeySource,
  readIssuerKeys,
  restoreIssuerKeys,
  savedKeySchema,
  saveIssuerKeys,
} from "./issuer-keys.ts";

const maxSources = 1000;
/** How long keys are used before they are read again, in the background. */
export const keysFreshMs = 10 * 60_000;
/** Pause between two reads of a source, regardless of the tokens that come. */
const pauseMs = 30_000;

type Entry = {
  /** Null until they could be read. */
  keys: IssuerKeys | null;
  /** When the read that found them began, and when the last one did. */
  readAt: number;
  askedAt: number;
  reading: Promise<void> | null;
  /** Of the last read; null: it succeeded. */
  problem: IssuerKeysError | null;
};

/** Keys of a source by its name, with when they were read, milliseconds since 1970. */
export const savedIssuerSchema = z.object({ source: z.string(), readAt: z.number(), keys: z.array(savedKeySchema) });
type SavedIssuer = z.infer<typeof savedIssuerSchema>;

type Options = IssuerReach & {
  /** How long keys count after they were last read, while the issuer does not answer; never less than they are fresh. */
  readonly outageMs: number;
  /** Called when a source could not be read, or could again (null). */
  readonly onProblem?: (source: KeySource, problem: string | null) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

/**
 * Keys of issuers, read when a token first needs them. They are kept apart by their source, as two organizations may
 * name one issuer with different keys. A key id that is not known reads the source again, at most every 30 s.
 */
export class IssuerKeyCache {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry>({ max: maxSources });
  #version = 0;
  /** Called when an issuer does not answer and no keys of it count; may `restore` what an earlier process saved. */
  onUnknown: (() => Promise<void>) | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * The key of an issuer with this id; null if it has none.
   *
   * @throws IssuerKeysError when its keys can't be read, and none count that were read before
   */
  async find(source: KeySource, kid: string): Promise<IssuerKey | null> {
    const name = nameOfSource(source);
    const entry = this.#entryOf(name);
    if (this.#isUsable(entry)) {
      if (this.#now() - entry.readAt > keysFreshMs) void this.#read(entry, source);
    } else await this.#read(entry, source);
    const known = this.#isUsable(entry) ? entry.keys?.get(kid) : undefined;
    if (known) return known;
    await this.#read(entry, source);
    if (!this.#isUsable(entry)) await this.onUnknown?.();
    if (!this.#isUsable(entry)) throw entry.problem ?? new IssuerKeysError("The issuer's keys could not be read.");
    return entry.keys?.get(kid) ?? null;
  }

  /** Changes with what `save` returns. */
  get version(): number {
    return this.#version;
  }

  /** Keys that count now. */
  save(): SavedIssuer[] {
    const offset = Date.now() - this.#now();
    return [...this.#entries].flatMap(([source, entry]) =>
      entry.keys === null || !this.#isUsable(entry)
        ? []
        : [{ source, readAt: entry.readAt + offset, keys: saveIssuerKeys(entry.keys) }],
    );
  }

  /** Takes keys that are newer than what is known; they count for as long as if this process had read them. */
  restore(saved: readonly SavedIssuer[]): void {
    const offset = Date.now() - this.#now();
    for (const { source, readAt, keys } of saved) {
      const entry = this.#entryOf(source);
      // Never from the future, for a clock that was set back.
      const at = Math.min(readAt - offset, this.#now());
      if (entry.keys !== null && entry.readAt >= at) continue;
      entry.keys = restoreIssuerKeys(keys);
      entry.readAt = at;
    }
  }

  #entryOf(name: string): Entry {
    const known = this.#entries.get(name);
    if (known) return known;
    const entry = { keys: null, readAt: 0, askedAt: Number.NEGATIVE_INFINITY, reading: null, problem: null };
    this.#entries.set(name, entry);
    return entry;
  }

  #isUsable({ keys, readAt }: Entry): boolean {
    return keys !== null && this.#now() - readAt < Math.max(this.#options.outageMs, keysFreshMs);
  }

  /** Does nothing within the pause. Never rejects. */
  #read(entry: Entry, source: KeySource): Promise<void> {
    if (entry.reading) return entry.reading;
    const askedAt = this.#now();
    if (askedAt - entry.askedAt < pauseMs) return Promise.resolve();
    entry.askedAt = askedAt;
    entry.reading = readIssuerKeys(source, this.#options)
      .then(
        (keys) => {
          entry.keys = keys;
          entry.readAt = askedAt;
          this.#version++;
          this.#settle(entry, source, null);
        },
        (error: unknown) => {
          this.#settle(entry, source, error instanceof IssuerKeysError ? error : new IssuerKeysError(String(error)));
        },
      )
      .finally(() => {
        entry.reading = null;
      });
    return entry.reading;
  }

  #settle(entry: Entry, source: KeySource, problem: IssuerKeysError | null): void {
    entry.problem = problem;
    this.#options.onProblem?.(source, problem?.message ?? null);
  }
}

const names = new WeakMap<KeySource, string>();

/** Equal for sources with the same keys. */
export function nameOfSource(source: KeySource): string {
  const known = names.get(source);
  if (known !== undefined) return known;
  const { issuer, jwksUrl, keySet, ca } = source;
  const name = sha256(JSON.stringify([issuer, jwksUrl, keySet, ca]));
  names.set(source, name);
  return name;
}
