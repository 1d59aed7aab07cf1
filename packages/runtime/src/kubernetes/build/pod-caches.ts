import { randomUUID } from "node:crypto";
import type { BuildCaches } from "../../port/builds.ts";
import type { KubernetesApi } from "../api/client.ts";
import type { Stored } from "../api/objects.ts";
import { labels, managedBy } from "../pod/labels.ts";

/** When a cache was taken out of use, as ISO 8601. */
const discardedAt = "towpath.dev/discarded-at";
/** What a build last found in it. */
const cacheBytes = "towpath.dev/cache-bytes";
const state = "towpath.dev/cache";

/** Of the claims, one for each organization. */
export type CacheSettings = {
  readonly storageClass: string;
  readonly accessMode: "ReadWriteOnce" | "ReadWriteMany";
  readonly bytes: number;
};

type Claim = Stored<"persistentvolumeclaims">;

/** The caches of organizations, each a claim for a volume; or, without settings, none that outlives its build. */
export class PodCaches implements BuildCaches {
  readonly #api: KubernetesApi;
  readonly #settings: CacheSettings | null;

  constructor(api: KubernetesApi, settings: CacheSettings | null) {
    this.#api = api;
    this.#settings = settings;
  }

  /** The name of the organization's claim, which is made if it has none; null: a cache of the build's own. */
  async claimFor(organizationId: string): Promise<string | null> {
    if (this.#settings === null) return null;
    // Two builds at once may make two: both use the older one from then on.
    const found = (await this.#used(organizationId)).toSorted(byAge).at(0);
    if (found !== undefined) return found.metadata.name;
    const { storageClass, accessMode, bytes } = this.#settings;
    const name = `cache-${randomUUID()}`;
    await this.#api.create("persistentvolumeclaims", {
      metadata: {
        name,
        labels: { ...managedBy, [labels.role]: "cache", [labels.organization]: organizationId, [state]: "used" },
      },
      spec: {
        storageClassName: storageClass,
        accessModes: [accessMode],
        resources: { requests: { storage: String(bytes) } },
      },
    });
    return name;
  }

  /** Remembers the size of a cache, which only a pod that has it can measure. */
  async measured(claim: string, bytes: number): Promise<void> {
    await this.#api.patch("persistentvolumeclaims", claim, {
      metadata: { annotations: { [cacheBytes]: String(bytes) } },
    });
  }

  async sizes(): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for (const { metadata } of await this.#used(null)) {
      const organization = metadata.labels?.[labels.organization] ?? "";
      sizes.set(organization, (sizes.get(organization) ?? 0) + Number(metadata.annotations?.[cacheBytes] ?? 0));
    }
    return sizes;
  }

  async discard(organizationId: string): Promise<void> {
    const patch = {
      metadata: { labels: { [state]: "discarded" }, annotations: { [discardedAt]: new Date().toISOString() } },
    };
    for (const { metadata } of await this.#used(organizationId))
      await this.#api.patch("persistentvolumeclaims", metadata.name, patch);
  }

  async removeDiscarded(before: Date, signal?: AbortSignal): Promise<number> {
    const selector = { [labels.role]: "cache", [state]: "discarded" };
    let removed = 0;
    for (const { metadata } of (await this.#api.list("persistentvolumeclaims", selector)).items) {
      if (signal?.aborted) break;
      if (metadata.deletionTimestamp !== undefined) continue;
      if (Date.parse(metadata.annotations?.[discardedAt] ?? "") > before.getTime()) continue;
      await this.#api.delete("persistentvolumeclaims", metadata.name, { uid: metadata.uid });
      removed += 1;
    }
    return removed;
  }

  async #used(organizationId: string | null): Promise<readonly Claim[]> {
    const selector = { [labels.role]: "cache", [labels.organization]: organizationId, [state]: "used" };
    const { items } = await this.#api.list("persistentvolumeclaims", selector);
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }
}

const byAge = (one: Claim, other: Claim) =>
  one.metadata.creationTimestamp.localeCompare(other.metadata.creationTimestamp) ||
  one.metadata.name.localeCompare(other.metadata.name);
