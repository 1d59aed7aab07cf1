import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import type { OutputSink } from "../../port/execution.ts";
import type { DataUsage, Isolation, Pythons } from "../../port/host.ts";
import type {
  AdoptedServer,
  InstanceSpec,
  PoolObstacle,
  PrewarmResult,
  PrewarmSpec,
  ServerDriver,
  StartResult,
} from "../../port/servers.ts";
import type { KubernetesApi } from "../api/client.ts";
import type { New, Stored } from "../api/objects.ts";
import { PodWatch } from "../api/pod-watch.ts";
import type { PodSettings } from "../config.ts";
import type { DataClaims } from "../data-claims.ts";
import { labels } from "../pod/labels.ts";
import { podEnd } from "../pod/pod-end.ts";
import { type Given, type PodOwner, serverPod, serverPort, serverSecret, serverStart } from "../pod/server-pod.ts";
import { PrewarmedPods } from "../pool/prewarmed-pods.ts";
import type { TakenPod, WaitingPods } from "../pool/waiting-pods.ts";
import type { RemoteLayers } from "../remote-layers.ts";
import { type Address, askReady } from "./ask-server.ts";
import { awaitReady } from "./await-ready.ts";
import { layersAt } from "./layer-addresses.ts";
import { Nodes } from "./nodes.ts";
import { PodServer, type PodServerParts } from "./pod-server.ts";
import { refusalOf } from "./start-failure.ts";

export type KubernetesServersParts = {
  readonly api: KubernetesApi;
  readonly layers: RemoteLayers;
  readonly pythons: Pythons;
  /** Asked before each start, which it may refuse. Null: nothing is refused. */
  readonly isolation: (() => Promise<Isolation>) | null;
  readonly settings: PodSettings;
  readonly owner: PodOwner;
  /** How long a pod may wait for a node and its image, milliseconds. */
  readonly placeMs: number;
  /** Null without the capability `lastingData`. */
  readonly data: DataClaims | null;
  /** Null: each server gets a pod of its own. */
  readonly waiting: WaitingPods | null;
  /** How many of those that have waited may hold an interpreter for an organization's servers. */
  readonly prewarmedPods: number;
};
type PodServerOptions = Pick<PodServerParts, "onOutput" | "last" | "secret" | "on">;

type Begun = {
  readonly spec: InstanceSpec;
  readonly pod: New<"pods">;
  readonly given: Given;
  readonly onOutput: OutputSink;
};

/** Runs each server as a pod. */
export class KubernetesServers implements ServerDriver {
  readonly #parts: KubernetesServersParts;
  readonly #watch: PodWatch;
  readonly #nodes = new Nodes();
  readonly #running = new Set<PodServer>();
  readonly #prewarmed: PrewarmedPods | null;

  constructor(parts: KubernetesServersParts) {
    this.#parts = parts;
    this.#watch = new PodWatch(parts.api, { [labels.role]: "server", [labels.owner]: parts.owner.id });
    const { waiting } = parts;
    const follow = (pod: Stored<"pods">, own: PodServerOptions) => {
      this.#watch.learn(pod);
      return this.#follow(this.#podServer(pod, own));
    };
    this.#prewarmed =
      waiting === null || parts.prewarmedPods === 0 ? null : new PrewarmedPods({ ...parts, waiting, follow });
  }

  async start(spec: InstanceSpec, onOutput: OutputSink): Promise<StartResult> {
    const startedAt = performance.now();
    const { server } = spec;
    await this.#requireIsolation();
    await this.#requirePython(server.pythonVersion);
    await this.#openData(server.dataVolume);
    const pod = serverPod(spec, this.#parts.owner, this.#parts.settings);
    // The store is asked while a pod is taken.
    const taking = this.#takeWaiting(pod);
    const layers = await Promise.all([layersAt(this.#parts.layers, server), this.#watch.start()]).then(
      ([found]) => found,
      async (error: unknown) => {
        await this.#giveUp(await taking);
        throw error;
      },
    );
    const taken = await taking;
    const given = { secret: randomBytes(32).toString("base64url"), layers };
    const begun = { spec, pod, given, onOutput };
    const pooled = taken === null || typeof taken === "string" ? taken : await this.#startTaken(taken, begun);
    const running = pooled instanceof PodServer ? pooled : await this.#startOwn(begun);
    const result = await awaitReady(running, {
      instanceId: spec.instanceId,
      startTimeoutMs: spec.startTimeoutMs,
      startedAt,
      placeMs: this.#parts.placeMs,
      onNoVolume: (reason) => this.#parts.data?.learnProblem(reason),
    });
    if (server.dataVolume !== undefined) this.#parts.data?.learnProblem(null);
    if (!result.ok || pooled === null) return result;
    return { ...result, pool: pooled instanceof PodServer ? "used" : pooled };
  }

  async #startOwn({ spec, pod, given, onOutput }: Begun): Promise<PodServer> {
    const created = await this.#create(pod);
    const { secret } = given;
    const running = this.#follow(this.#podServer(created, { onOutput, secret }));
    try {
      await this.#parts.api.create("secrets", serverSecret(spec, created, given, false));
    } catch (error) {
      void running.stop(0);
      throw refusalOf(error);
    }
    return running;
  }

  /** Null without pods that wait; why, if none could be taken. */
  async #takeWaiting(pod: New<"pods">): Promise<TakenPod | PoolObstacle | null> {
    return (await this.#parts.waiting?.take(pod).catch((): PoolObstacle => "failed")) ?? null;
  }

  async #giveUp(taken: TakenPod | PoolObstacle | null): Promise<void> {
    if (taken === null || typeof taken === "string") return;
    const { name, uid } = taken.pod.metadata;
    await this.#parts.api.delete("pods", name, { graceSeconds: 0, uid }).catch(() => {});
  }

  async #startTaken({ pod, opened }: TakenPod, { spec, given, onOutput }: Begun): Promise<PodServer | PoolObstacle> {
    this.#watch.learn(pod);
    const { secret, layers } = given;
    const running = this.#follow(this.#podServer(pod, { onOutput, secret }));
    try {
      const start = serverStart(spec, secret, { sharesUser: true });
      await Promise.all([
        opened.then((connection) => connection.send({ layers, start })),
        this.#parts.api.create("secrets", serverSecret(spec, pod, given, true)),
      ]);
      return running;
    } catch (error) {
      void running.stop(0);
      const why = `A waiting pod could not be used, so the server gets one of its own: ${messageOf(error)}`;
      onOutput("stderr", why, new Date());
      return "failed";
    }
  }

  async prewarm(spec: PrewarmSpec): Promise<PrewarmResult> {
    if (spec.onlyForked === true) return { ok: false, reason: "pods are not forked", isFinal: false };
    if (this.#prewarmed === null) {
      const reason = "Interpreters aren't prewarmed, as TOWPATH_KUBERNETES_PREWARMED_PODS is 0.";
      return { ok: false, reason, isFinal: true };
    }
    await this.#requireIsolation();
    await this.#requirePython(spec.pythonVersion);
    await this.#watch.start();
    return await this.#prewarmed.prewarm(spec);
  }

  async adopt(claim: Parameters<ServerDriver["adopt"]>[0]): Promise<AdoptedServer[]> {
    // Pods wait for their key.
    void this.#parts.waiting?.open().catch(() => {});
    await this.#watch.start();
    const { items: secrets } = await this.#parts.api.list("secrets", { [labels.owner]: this.#parts.owner.id });
    const byName = new Map(secrets.map((secret) => [secret.metadata.name, secret]));
    const adopted = this.#watch.list().map((pod) => this.#adoptOne(pod, byName.get(pod.metadata.name), claim));
    return (await Promise.all(adopted)).flatMap((server) => (server === null ? [] : [server]));
  }

  /** Nothing stays unpacked. */
  async evictLayers(): Promise<void> {}

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((server) => server.stop(0)));
    this.#watch.stop();
    this.#parts.waiting?.stop();
  }

  async #adoptOne(
    pod: Stored<"pods">,
    secrets: Stored<"secrets"> | undefined,
    claim: Parameters<ServerDriver["adopt"]>[0],
  ): Promise<AdoptedServer | null> {
    const instanceId = pod.metadata.labels?.[labels.instance] ?? "";
    const { secret = "", memo = "" } = decoded(secrets);
    const host = pod.status?.podIP;
    const isOver = podEnd(pod) !== null || pod.metadata.deletionTimestamp !== undefined;
    const address: Address | null = isOver || host === undefined || secret === "" ? null : addressOf(host, secret);
    // One that isn't ready was being started, and whoever waited for it is gone.
    const isReady = address !== null && (await askReady(address, AbortSignal.timeout(adoptMs))) !== null;
    const claimed = isReady && memo !== "" ? await claim({ instanceId, memo }) : null;
    if (claimed === null || address === null) {
      await this.#parts.api.delete("pods", pod.metadata.name, { graceSeconds: 0, uid: pod.metadata.uid });
      return null;
    }
    const { fromBeginning, ...continued } = claimed;
    const output = fromBeginning === undefined ? continued : { onOutput: await fromBeginning() };
    const running = this.#follow(this.#podServer(pod, { ...output, secret }));
    return { handle: running.handle(instanceId, address), isFrozen: false };
  }

  #podServer(pod: Stored<"pods">, own: Omit<PodServerOptions, "on"> & Partial<PodServerOptions>): PodServer {
    const { api, data } = this.#parts;
    const volume = pod.metadata.labels?.[labels.data];
    const usage = (used: Omit<DataUsage, "id">) => volume !== undefined && data?.learn(volume, used);
    return new PodServer(pod, { api, watch: this.#watch, nodes: this.#nodes, on: { usage }, ...own });
  }

  #follow(server: PodServer): PodServer {
    this.#running.add(server);
    void server.ended.then(() => this.#running.delete(server));
    return server;
  }

  async #requireIsolation(): Promise<void> {
    const found = await this.#parts.isolation?.();
    if (found?.refuses) throw new SandboxError("isolation_unavailable", found.problems.join(" "));
  }

  async #requirePython(version: string): Promise<void> {
    const minor = version.split(".").slice(0, 2).join(".");
    if ((await this.#parts.pythons.find(minor)) !== null) return;
    const message = `Python ${version}, for which it was built, is not in the image of servers. Rebuild it.`;
    throw new SandboxError("python_unavailable", message);
  }

  async #openData(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    if (this.#parts.data === null)
      throw new SandboxError("data_unavailable", "its lasting directory /data is not available here.");
    await this.#parts.data.open(id);
    await this.#untilReleased(id);
  }

  /** Until its pod is known to have ended, its volume may still be written: only Kubernetes knows when another node may. */
  async #untilReleased(id: string): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += checkMs) {
      const holder = this.#watch.list().find((pod) => holdsData(pod, id));
      if (holder === undefined) return;
      if (waitedMs >= releaseMs)
        throw new SandboxError("data_unavailable", lostDataOf(holder.spec?.nodeName ?? "that is unknown"));
      await sleep(checkMs);
    }
  }

  async #create(pod: New<"pods">): Promise<Stored<"pods">> {
    try {
      const created = await this.#parts.api.create("pods", pod);
      this.#watch.learn(created);
      return created;
    } catch (error) {
      throw refusalOf(error);
    }
  }
}

/** Whether a pod is being deleted, and may still run: its node hasn't reported that it has ended. */
const holdsData = (pod: Stored<"pods">, id: string): boolean =>
  pod.metadata.labels?.[labels.data] === id && pod.metadata.deletionTimestamp !== undefined && podEnd(pod) === null;

const lostDataOf = (node: string): string =>
  `its lasting directory /data is in use on the node ${node}, which doesn't answer. It starts when the node is back, or ` +
  "when the operator of the cluster has declared it out of service or deleted it.";

const releaseMs = 5000;
const adoptMs = 5000;
const checkMs = 500;

const addressOf = (host: string, secret: string): Address => ({ host, port: serverPort, secret });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function decoded(secret: Stored<"secrets"> | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(secret?.data ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value, "base64").toString()]));
}
