import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Admitted } from "../call/states.ts";
import type { KeptTaskStore } from "../read-model/kept-tasks.ts";
import { serverIdOf, type TaskEra } from "./task-era.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** For a server whose handshakes no gateway has seen. */
const unknownMs = 5000;
/** Another process may have seen the handshake just now. */
const againMs = 100;
/** A server has so long to say it. */
const askMs = 2000;

type Support = "own" | "none" | "unknown";

/**
 * Whether servers offer tasks themselves, by what they say in handshakes, which may reach any process of any gateway:
 * one that offers none gets the gateway's.
 */
export class TaskSupport {
  readonly #store: KeptTaskStore;
  readonly #log: Logger;
  readonly #finding = new Map<string, Promise<Support>>();
  readonly #known = new LRUCache<string, Support>({ max: 10_000 });
  /** What this process has stored within the hour. */
  readonly #stored = new LRUCache<string, Support>({ max: 10_000, ttl: hourMs });

  constructor(store: KeptTaskStore, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /**
   * Whether the gateway offers tasks for the server of a request: it is known to offer none. `ask`: lets the server
   * say so, if it has never done.
   */
  async isOurs(admitted: Admitted, era: TaskEra, ask: () => Promise<void>): Promise<boolean> {
    const key = keyOf(admitted, era);
    const known = this.#known.get(key);
    if (known !== undefined) return known === "none";
    const finding = this.#finding.get(key) ?? this.#find(admitted, era, ask);
    this.#finding.set(key, finding);
    const found = await finding.finally(() => this.#finding.delete(key));
    return found === "none";
  }

  async #find(admitted: Admitted, era: TaskEra, ask: () => Promise<void>): Promise<Support> {
    const key = keyOf(admitted, era);
    const stored = await this.#read(admitted, era);
    if (stored === "unknown") await Promise.race([ask().catch(() => {}), pause(askMs)]);
    // It may have learned it meanwhile.
    const found = this.#known.get(key) ?? stored;
    this.#known.set(key, found, { ttl: found === "unknown" ? unknownMs : minuteMs });
    return found;
  }

  /** A handshake says whether the server offers tasks. */
  learn(admitted: Admitted, era: TaskEra, isOwn: boolean): void {
    const key = keyOf(admitted, era);
    const support = isOwn ? "own" : "none";
    this.#known.set(key, support, { ttl: minuteMs });
    if (this.#stored.get(key) === support) return;
    this.#stored.set(key, support);
    const { projectId } = admitted.call.route;
    this.#store.learnSupport(projectId, serverIdOf(admitted) ?? "", era, isOwn).catch((error: unknown) => {
      this.#stored.delete(key);
      this.#log.warn({ err: error }, "whether a server offers tasks can't be stored");
    });
  }

  async #read(admitted: Admitted, era: TaskEra): Promise<Support> {
    try {
      const read = () => this.#store.supportOf(serverIdOf(admitted) ?? "", era);
      let isOwn = await read();
      if (isOwn === null) {
        await pause(againMs);
        isOwn = await read();
      }
      return isOwn === null ? "unknown" : isOwn ? "own" : "none";
    } catch (error) {
      this.#log.warn({ err: error }, "whether a server offers tasks can't be read");
      return "unknown";
    }
  }
}

const pause = (ms: number) => sleep(ms, undefined, { ref: false });

const keyOf = (admitted: Admitted, era: TaskEra): string => `${serverIdOf(admitted)} ${era}`;
