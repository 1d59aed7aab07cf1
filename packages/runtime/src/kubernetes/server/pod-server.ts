import { setTimeout as sleep } from "node:timers/promises";
import type { Exit, LastLines, OutputSink } from "../../port/execution.ts";
import type { InstanceHandle } from "../../port/servers.ts";
import type { KubernetesApi } from "../api/client.ts";
import type { Stored } from "../api/objects.ts";
import type { PodWatch } from "../api/pod-watch.ts";
import { deletedByOthers, hasRestarted, hasStarted, lostNode, type PodEnd, podEnd } from "../pod/pod-end.ts";
import { serverPort } from "../pod/server-pod.ts";
import { type Address, dial } from "./ask-server.ts";
import { followLog } from "./follow-log.ts";
import type { Nodes } from "./nodes.ts";
import { type RecordListeners, Records } from "./records.ts";

type Pod = Stored<"pods">;

/** For the rest of the output when a server has ended. */
const lastOutputMs = 5000;
const retryMs = 1000;
/** A pod that was to be deleted and whose node doesn't say so is lost. */
const lostAfterMs = 30_000;

export type PodServerParts = {
  readonly api: KubernetesApi;
  readonly watch: PodWatch;
  readonly nodes: Nodes;
  readonly onOutput: OutputSink;
  readonly on: RecordListeners;
  /** Of an adopted server: the lines that were kept before. */
  readonly last?: LastLines;
  readonly secret: string;
};

/** A server's pod from its creation, or its adoption, until it is gone. */
export class PodServer {
  /** Resolves when the container has ended, and its output was passed on. */
  readonly ended: Promise<PodEnd>;
  readonly #parts: PodServerParts;
  readonly #records: Records;
  readonly #name: string;
  readonly #uid: string;
  readonly #ending = Promise.withResolvers<PodEnd>();
  readonly #over = new AbortController();
  #unwatch = () => {};
  #log: Promise<void> | null = null;
  #lost: NodeJS.Timeout | null = null;
  #isStopping = false;
  #asking: Promise<boolean> | null = null;

  constructor(pod: Pod, parts: PodServerParts) {
    this.#parts = parts;
    this.#name = pod.metadata.name;
    this.#uid = pod.metadata.uid;
    this.#records = new Records(parts.onOutput, parts.last, parts.on);
    this.ended = this.#ending.promise.then((end) => this.#finish(end));
    this.#unwatch = parts.watch.on(this.#name, (seen) => this.#seen(seen));
    this.#seen(parts.watch.get(this.#name) ?? pod);
  }

  /** The latest state of its pod; null: it is gone. */
  get pod(): Pod | null {
    const pod = this.#parts.watch.get(this.#name);
    return pod?.metadata.uid === this.#uid ? pod : null;
  }

  /** Lines of the stacks of a start that took too long. */
  get stack(): readonly string[] {
    return this.#records.stack;
  }

  /** Null until the pod has an address. */
  get address(): Address | null {
    const host = this.pod?.status?.podIP;
    return host === undefined ? null : { host, port: serverPort, secret: this.#parts.secret };
  }

  /** Ends it; resolves when all its processes have ended. Again with a shorter time, that one counts. */
  async stop(graceMs: number): Promise<Exit> {
    if (!this.#over.signal.aborted) this.#isStopping = true;
    while (!this.#over.signal.aborted) {
      try {
        await this.#delete(graceMs);
        break;
      } catch {
        // The API is gone: the server goes on until it is back.
        await sleep(retryMs, undefined, { signal: this.#over.signal }).catch(() => {});
      }
    }
    const { exit } = await this.ended;
    return exit;
  }

  handle(instanceId: string, address: Address): InstanceHandle {
    const host = this.pod?.status?.hostIP;
    if (host !== undefined) void this.#parts.nodes.learn(host);
    const exited = this.ended.then(({ exit }) => exit);
    return {
      instanceId,
      endpoint: { kind: "tcp", ...address },
      freeze: async () => false,
      wake: async () => {},
      stop: (graceMs) => this.stop(graceMs),
      memoryBytes: async () => null,
      isAlive: () => this.#isAlive(address),
      exited,
    };
  }

  /** Takes seconds if nothing answers. */
  async #isAlive(address: Address): Promise<boolean> {
    if (this.#over.signal.aborted) return false;
    const dialed = await dial(address);
    if (dialed !== "silent") return dialed === "listening" && !this.#over.signal.aborted;
    const host = this.pod?.status?.hostIP;
    this.#asking ??= (host === undefined ? Promise.resolve(false) : this.#parts.nodes.isLost(address, host)).finally(
      () => {
        this.#asking = null;
      },
    );
    if (await this.#asking) this.#end(lostNode);
    return !this.#over.signal.aborted;
  }

  #say(sentence: string): void {
    this.#parts.onOutput("stderr", sentence, new Date());
  }

  #delete(graceMs: number): Promise<void> {
    return this.#parts.api.delete("pods", this.#name, { graceSeconds: graceMs / 1000, uid: this.#uid });
  }

  #seen(pod: Pod | null): void {
    if (this.#over.signal.aborted) return;
    if (pod === null || pod.metadata.uid !== this.#uid) {
      this.#end(deletedByOthers);
      return;
    }
    if (hasStarted(pod))
      this.#log ??= followLog(this.#parts.api, this.#name, this.#records, {
        hasEnded: () => this.#over.signal.aborted,
        hasRestarted: () => hasRestarted(this.pod),
        signal: this.#parts.watch.stopped,
        onLost: (error) => this.#say(`The output of the server can't be read now: ${String(error)}`),
      });
    const end = podEnd(pod);
    if (end !== null) {
      this.#end(end);
      return;
    }
    if (pod.metadata.deletionTimestamp !== undefined && this.#lost === null) {
      const afterMs = Date.parse(pod.metadata.deletionTimestamp) - Date.now() + lostAfterMs;
      this.#lost = setTimeout(() => this.#end(deletedByOthers), Math.max(afterMs, lostAfterMs));
      this.#lost.unref();
    }
  }

  #end(end: PodEnd): void {
    if (this.#over.signal.aborted) return;
    const { deletionTimestamp } = this.pod?.metadata ?? {};
    this.#over.abort();
    if (this.#lost !== null) clearTimeout(this.#lost);
    this.#unwatch();
    // Somebody else deleted it, so what it did at SIGTERM says nothing of it.
    const byOthers = deletionTimestamp !== undefined && end.sentence === null && end.exit.reason !== "out-of-memory";
    this.#ending.resolve(!this.#isStopping && byOthers ? deletedByOthers : end);
  }

  async #finish(end: PodEnd): Promise<PodEnd> {
    await Promise.race([this.#log, sleep(lastOutputMs, undefined, { ref: false })]);
    // Else somebody has begun it.
    if (this.pod !== null && this.pod.metadata.deletionTimestamp === undefined) void this.#delete(0).catch(() => {});
    if (this.#isStopping) return { ...end, exit: { ...end.exit, reason: "stopped" } };
    if (end.sentence === null) return end;
    this.#say(end.sentence);
    const detail = `${end.sentence[0]?.toLowerCase()}${end.sentence.slice(1)}`.replace(/\.$/, "");
    return { ...end, exit: { ...end.exit, detail: detail.replace(/^kubernetes/, "Kubernetes") } };
  }
}
