import type { BuildDriver, BuildSpec, BuildWorkspace } from "../../port/builds.ts";
import { SandboxError } from "../../port/errors.ts";
import type { KubernetesApi } from "../api/client.ts";
import type { PodSettings } from "../config.ts";
import { labels } from "../pod/labels.ts";
import type { RemoteLayers } from "../remote-layers.ts";
import { type CacheSettings, PodCaches } from "./pod-caches.ts";
import { PodWorkspace } from "./pod-workspace.ts";
import { removePod } from "./start-pod.ts";

/** As the value of a label. */
const safeName = /^[A-Za-z0-9]([\w-]{0,61}[A-Za-z0-9])?$/;

export type PodBuildsConfig = {
  readonly pod: PodSettings;
  /** Null: an organization's builds share no cache. */
  readonly cache: CacheSettings | null;
  readonly layers: RemoteLayers;
  /** Set for every build step; see `pickBuildEnvironment`. */
  readonly buildEnvironment: Readonly<Record<string, string>>;
};

/** Builds as pods: volumes are those of the pod, and a step is a command in one of its containers (decision 072). */
export class PodBuilds implements BuildDriver {
  readonly caches: PodCaches;
  readonly #api: KubernetesApi;
  readonly #config: PodBuildsConfig;

  constructor(api: KubernetesApi, config: PodBuildsConfig) {
    this.#api = api;
    this.#config = config;
    this.caches = new PodCaches(api, config.cache);
  }

  async open(spec: BuildSpec): Promise<BuildWorkspace> {
    if (!safeName.test(spec.buildId) || !safeName.test(spec.organizationId))
      throw new SandboxError("invalid_spec", "The build's or organization's id is not valid in a label.");
    const cacheClaim = await this.caches.claimFor(spec.organizationId);
    return await PodWorkspace.open(this.#api, { ...this.#config, spec, cacheClaim, caches: this.caches });
  }

  async removeLost(running: Parameters<BuildDriver["removeLost"]>[0]): Promise<number> {
    const { items } = await this.#api.list("pods", { [labels.build]: null });
    const pods = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (pods.length === 0) return 0;
    const buildOf = (pod: (typeof pods)[number]) => pod.metadata.labels?.[labels.build] ?? "";
    // After listing: pods that were made since then aren't among them.
    const kept = await running([...new Set(pods.map(buildOf))]);
    const lost = pods.filter((pod) => !kept.has(buildOf(pod)));
    await Promise.all(lost.map((pod) => removePod(this.#api, pod)));
    return lost.length;
  }
}
