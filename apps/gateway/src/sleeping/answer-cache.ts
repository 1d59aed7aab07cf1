import { setTimeout as sleep } from "node:timers/promises";
import type { RecordedAnswers } from "@towpath/mcp/manifest";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { LoadRecordedAnswers, StoredAnswers } from "../read-model/recorded-answers.ts";
import { answersAsleep, currentDeployments, type Route } from "../read-model/routes.ts";

/** All answers in a gateway's memory, as stored. */
const maxBytes = 64 * 1024 * 1024;
/** Deployments loaded by one query, before their first request. */
const loadTogether = 20;
/** Longer than a healthy database needs; then the server is woken instead. */
const loadWithinMs = 1000;

/**
 * Recorded answers in memory. Those of new deployments are loaded with the routes, before the first request; evicted
 * ones are loaded again on demand, while the request waits.
 */
export class AnswerCache {
  readonly #cache: LRUCache<string, StoredAnswers>;
  readonly #load: LoadRecordedAnswers;
  readonly #log: Logger;
  readonly #loading = new Map<string, Promise<RecordedAnswers | null>>();
  /** Deployments whose answers have been loaded ahead. */
  #known = new Set<string>();
  #isLoadingAhead = false;

  /** `share`: this process's share of the memory. */
  constructor(parts: { load: LoadRecordedAnswers; log: Logger; share?: number; maxBytes?: number }) {
    this.#load = parts.load;
    this.#log = parts.log;
    this.#cache = new LRUCache({
      maxSize: Math.ceil((parts.maxBytes ?? maxBytes) * (parts.share ?? 1)),
      sizeCalculation: ({ bytes }) => Math.max(1, bytes),
    });
  }

  /** Bytes in memory, as stored. */
  get bytes(): number {
    return this.#cache.calculatedSize;
  }

  /** The answers of a deployment; null if there are none, or if they can't be loaded within a second. */
  of(deploymentId: string): RecordedAnswers | null | Promise<RecordedAnswers | null> {
    const found = this.#cache.get(deploymentId);
    if (found) return found.answers;
    const loading = this.#loading.get(deploymentId) ?? this.#loadOne(deploymentId);
    this.#loading.set(deploymentId, loading);
    return Promise.race([loading, sleep(loadWithinMs, null, { ref: false })]);
  }

  async #loadOne(deploymentId: string): Promise<RecordedAnswers | null> {
    try {
      const [stored] = await this.#load([deploymentId]);
      if (!stored) return null;
      this.#cache.set(deploymentId, stored);
      return stored.answers;
    } catch (error) {
      this.#log.debug({ err: error, deploymentId }, "recorded answers cannot be loaded; the server is woken");
      return null;
    } finally {
      this.#loading.delete(deploymentId);
    }
  }

  /** Loads the answers for these routes, as far as there is room. Never rejects. */
  async loadAhead(routes: readonly Route[]): Promise<void> {
    if (this.#isLoadingAhead) return;
    this.#isLoadingAhead = true;
    const needed = new Set(
      routes.flatMap((route) => currentDeployments(route).filter((id) => answersAsleep(route, id))),
    );
    this.#known = new Set([...this.#known].filter((id) => needed.has(id)));
    const missing = [...needed].filter((id) => !this.#known.has(id));
    try {
      while (missing.length > 0 && this.#cache.calculatedSize < this.#cache.maxSize / 2) {
        const ids = missing.splice(0, loadTogether);
        for (const stored of await this.#load(ids)) this.#cache.set(stored.deploymentId, stored);
        for (const id of ids) this.#known.add(id);
      }
    } catch (error) {
      this.#log.debug({ err: error }, "recorded answers cannot be loaded ahead");
    } finally {
      this.#isLoadingAhead = false;
    }
  }
}
