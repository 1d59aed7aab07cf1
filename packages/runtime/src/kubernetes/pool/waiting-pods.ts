import type { PoolObstacle } from "../../port/servers.ts";
import type { KubernetesApi } from "../api/client.ts";
import type { New, Stored } from "../api/objects.ts";
import { PodWatch } from "../api/pod-watch.ts";
import { labels, managedBy } from "../pod/labels.ts";
import { handOverPort, type OpenedHandOver, openHandOver } from "./hand-over.ts";
import { fitsServer, isWaiting, isWorn } from "./pool-fit.ts";

type Pod = Stored<"pods">;

/** Secret with the key, which waiting pods mount; the chart's Deployment names it. */
const keySecret = "towpath-waiting";
/** A pod of its own takes about as long. */
const handOverMs = 3000;
/** Another runner may be quicker, or a pod may just have gone. */
const maxAttempts = 3;

/** A pod that waits no more, and a connection by which it gets its server. */
export type TakenPod = { readonly pod: Pod; readonly opened: Promise<OpenedHandOver> };

/** Pods of an ordinary Deployment, each of which becomes a server, once (decision 073). */
export class WaitingPods {
  readonly #api: KubernetesApi;
  readonly #key: Uint8Array;
  readonly #watch: PodWatch;
  readonly #taking = new Set<string>();
  #opened: Promise<void> | null = null;

  /** `key`: 32 bytes. */
  constructor(api: KubernetesApi, key: Uint8Array) {
    this.#api = api;
    this.#key = key;
    this.#watch = new PodWatch(api, { [labels.role]: "waiting" });
  }

  /** Gives the pods their key, and learns which there are. Rejects if the API can't be asked; call it again then. */
  open(): Promise<void> {
    this.#opened ??= Promise.all([this.#keepKey(), this.#watch.start()]).then(
      () => {},
      (error: unknown) => {
        this.#opened = null;
        throw error;
      },
    );
    return this.#opened;
  }

  /**
   * Makes a waiting pod, if one fits, the one that would be created for a server, by one change of the cluster. Connects to
   * it meanwhile.
   *
   * @param options.ahead the server isn't known yet: the last pod that waits is left to those that are, and it may have
   *   other processors
   */
  async take(expected: New<"pods">, options: { readonly ahead?: boolean } = {}): Promise<TakenPod | PoolObstacle> {
    const { ahead = false } = options;
    await this.open();
    // As after a restart of their node. Their ReplicaSet makes others.
    for (const { metadata } of this.#watch.list().filter(isWorn))
      void this.#api.delete("pods", metadata.name, { uid: metadata.uid }).catch(() => {});
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const free = this.#watch.list().filter((pod) => isWaiting(pod) && !this.#taking.has(pod.metadata.uid));
      if (free.length <= (ahead ? 1 : 0)) return "drained";
      // The oldest one is the most likely to listen.
      const [pod] = free
        .filter((each) => fitsServer(each, expected, { anyProcessors: ahead }))
        .toSorted((one, other) => (one.metadata.creationTimestamp < other.metadata.creationTimestamp ? -1 : 1));
      if (pod === undefined) return "unsuitable";
      const { uid } = pod.metadata;
      // Also later: the watch may still have it.
      this.#taking.add(uid);
      setTimeout(() => this.#taking.delete(uid), 60_000).unref();
      const opened = this.connect(pod);
      const taken = await this.#api.patch("pods", pod.metadata.name, takingOf(pod, expected));
      if (taken !== null) return { pod: taken, opened };
    }
    return "drained";
  }

  stop(): void {
    this.#watch.stop();
  }

  /** Rejects if the pod is gone, doesn't answer or is another one. It ends by itself if it isn't used. */
  connect({ metadata: { uid }, status }: Pod): Promise<OpenedHandOver> {
    const to = { host: status?.podIP ?? "", port: handOverPort, uid };
    const opened = openHandOver(to, this.#key, AbortSignal.timeout(handOverMs));
    // Whoever uses it learns why.
    opened.catch(() => {});
    return opened;
  }

  /** Gives a pod that was taken ahead the labels of its server. @throws Error if it is gone */
  async label(pod: Pod, expected: New<"pods">): Promise<void> {
    const labelled = await this.#api.patch("pods", pod.metadata.name, [
      { op: "test", path: "/metadata/uid", value: pod.metadata.uid },
      { op: "replace", path: "/metadata/labels", value: expected.metadata.labels },
    ]);
    if (labelled === null) throw new Error("The pod of the interpreter is gone.");
  }

  async #keepKey(): Promise<void> {
    const value = Buffer.from(this.#key).toString("base64");
    const { items } = await this.#api.list("secrets", { [labels.role]: "waiting" });
    const found = items.find(({ metadata }) => metadata.name === keySecret);
    const stringData = { key: value };
    if (found === undefined)
      await this.#api.create("secrets", {
        metadata: { name: keySecret, labels: { ...managedBy, [labels.role]: "waiting" } },
        stringData,
      });
    // The instance's secret has been replaced.
    else if (Buffer.from(found.data?.key ?? "", "base64").toString() !== value)
      await this.#api.patch("secrets", keySecret, { stringData });
  }
}

/** As a JSON patch: if it still waits, it leaves its ReplicaSet, which then makes the next one. Pure. */
function takingOf(pod: Pod, expected: New<"pods">): readonly object[] {
  const role = `/metadata/labels/${labels.role.replaceAll("/", "~1")}`;
  return [
    { op: "test", path: "/metadata/uid", value: pod.metadata.uid },
    { op: "test", path: role, value: "waiting" },
    { op: "replace", path: "/metadata/labels", value: expected.metadata.labels },
    ...(pod.metadata.ownerReferences === undefined ? [] : [{ op: "remove", path: "/metadata/ownerReferences" }]),
  ];
}
