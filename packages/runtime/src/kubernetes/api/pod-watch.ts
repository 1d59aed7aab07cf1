import { setTimeout as sleep } from "node:timers/promises";
import type { KubernetesApi } from "./client.ts";
import type { Selector, Stored } from "./objects.ts";

type Pod = Stored<"pods">;
/** Gets each state of a pod; null: it is gone. */
export type PodListener = (pod: Pod | null) => void;

const firstPauseMs = 500;
const maxPauseMs = 10_000;

/** Knows the current state of all pods with certain labels, by one watch for all of them. Survives outages of the API. */
export class PodWatch {
  readonly #api: KubernetesApi;
  readonly #selector: Selector;
  readonly #pods = new Map<string, Pod>();
  readonly #listeners = new Map<string, Set<PodListener>>();
  readonly #stopped = new AbortController();
  #started: Promise<void> | null = null;

  constructor(api: KubernetesApi, selector: Selector) {
    this.#api = api;
    this.#selector = selector;
  }

  /** Resolves when the pods are known. Rejects if the API can't be asked; call it again then. */
  start(): Promise<void> {
    this.#started ??= this.#list().then(
      (version) => void this.#follow(version),
      (error: unknown) => {
        this.#started = null;
        throw error;
      },
    );
    return this.#started;
  }

  list(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  get(name: string): Pod | null {
    return this.#pods.get(name) ?? null;
  }

  /** Takes the state of a pod from an answer, which may be newer than the watch. */
  learn(pod: Pod): void {
    this.#set(pod);
  }

  /** Passes each change of a pod on until the result is called. */
  on(name: string, listener: PodListener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
    };
  }

  /** Aborted by `stop`. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #follow(listed: string): Promise<void> {
    const { signal } = this.#stopped;
    let version: string | null = listed;
    for (let pauseMs = firstPauseMs; !signal.aborted; ) {
      try {
        version ??= await this.#list();
        for await (const event of this.#api.watch("pods", this.#selector, { resourceVersion: version, signal })) {
          version = event.object.metadata.resourceVersion;
          pauseMs = firstPauseMs;
          if (event.type === "DELETED") this.#remove(event.object);
          else if (event.type !== "BOOKMARK") this.#set(event.object);
        }
      } catch {
        // Also if the version is too old: everything that was missed is in the list.
        version = null;
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      }
    }
  }

  /** Resolves to the version of the list. */
  async #list(): Promise<string> {
    const before = [...this.#pods.values()];
    const { items, resourceVersion } = await this.#api.list("pods", this.#selector);
    const uids = new Set(items.map(({ metadata }) => metadata.uid));
    for (const pod of before) if (!uids.has(pod.metadata.uid)) this.#remove(pod);
    for (const pod of items) this.#set(pod);
    return resourceVersion;
  }

  #set(pod: Pod): void {
    this.#pods.set(pod.metadata.name, pod);
    this.#tell(pod.metadata.name, pod);
  }

  #remove({ metadata: { name, uid } }: Pod): void {
    if (this.#pods.get(name)?.metadata.uid !== uid) return;
    this.#pods.delete(name);
    this.#tell(name, null);
  }

  #tell(name: string, pod: Pod | null): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) listener(pod);
  }
}
