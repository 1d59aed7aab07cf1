import type { DataUsage, LastingData } from "../port/host.ts";
import { type KubernetesApi, KubernetesError } from "./api/client.ts";
import { labels, managedBy } from "./pod/labels.ts";
import { quantity } from "./pod/parts.ts";
import { dataClaimName } from "./pod/server-pod.ts";

const selector = { [labels.role]: "data" } as const;

/** Servers' `/data` as claims. Kubernetes makes their volumes when they are used first. */
export class DataClaims implements LastingData {
  readonly #api: KubernetesApi;
  readonly #storageClassName: string;
  readonly #bytes: number;
  readonly #usage = new Map<string, DataUsage>();
  #problem: string | null = null;

  constructor(api: KubernetesApi, storageClassName: string, bytes: number) {
    this.#api = api;
    this.#storageClassName = storageClassName;
    this.#bytes = bytes;
  }

  /** Makes the claim of a server's data unless there is one, which keeps its size. */
  async open(id: string): Promise<void> {
    const metadata = { name: dataClaimName(id), labels: { ...managedBy, ...selector, [labels.data]: id } };
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: this.#storageClassName,
      resources: { requests: { storage: quantity(this.#bytes) } },
    };
    try {
      await this.#api.create("persistentvolumeclaims", { metadata, spec });
    } catch (error) {
      if (!(error instanceof KubernetesError && error.reason === "AlreadyExists")) throw error;
    }
  }

  /** Takes what a server's pod has measured. */
  learn(id: string, usage: Omit<DataUsage, "id">): void {
    this.#usage.set(id, { id, ...usage });
  }

  /** Takes why a server's pod got no volume, in sentences; null: it got one. */
  learnProblem(problem: string | null): void {
    this.#problem = problem;
  }

  problem(): string | null {
    return this.#problem && `Servers that keep data don't start: ${this.#problem}`;
  }

  async usage(): Promise<readonly DataUsage[]> {
    return [...this.#usage.values()];
  }

  async remove(kept: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<readonly string[]> {
    const { items } = await this.#api.list("persistentvolumeclaims", selector);
    const ids = items.flatMap(({ metadata }) => {
      const id = metadata.labels?.[labels.data];
      return id === undefined || metadata.deletionTimestamp !== undefined ? [] : [id];
    });
    if (ids.length === 0) return [];
    const keep = await kept(ids);
    const removed = ids.filter((id) => !keep.has(id));
    for (const id of removed) {
      await this.#api.delete("persistentvolumeclaims", dataClaimName(id));
      this.#usage.delete(id);
    }
    return removed;
  }
}

/** Without the capability. */
export const noData: LastingData = { usage: async () => [], problem: () => null, remove: async () => [] };
