import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PrewarmStatus } from "../../host/server/harness-status.ts";
import { checkPrewarmed } from "../../port/check-prewarmed.ts";
import { SandboxError } from "../../port/errors.ts";
import type { OutputSink } from "../../port/execution.ts";
import { heldOutput } from "../../port/held-output.ts";
import type {
  InstanceSpec,
  PoolObstacle,
  PrewarmObstacle,
  PrewarmResult,
  PrewarmSpec,
  StartResult,
} from "../../port/servers.ts";
import type { KubernetesApi } from "../api/client.ts";
import type { Stored } from "../api/objects.ts";
import type { PodSettings } from "../config.ts";
import { claimStart, type PodOwner, prewarmedPod, prewarmStart, serverPod, serverSecret } from "../pod/server-pod.ts";
import type { RemoteLayers } from "../remote-layers.ts";
import { awaitReady } from "../server/await-ready.ts";
import { codeAt, dependenciesAt } from "../server/layer-addresses.ts";
import type { PodServer, PodServerParts } from "../server/pod-server.ts";
import { layerError } from "../server/start-failure.ts";
import { fitsServer } from "./pool-fit.ts";
import type { TakenPod, WaitingPods } from "./waiting-pods.ts";

/** A pod that was taken is replaced within some seconds. */
const vacancyMs = 30_000;
const checkMs = 500;

const reasons: Readonly<Record<PoolObstacle, string>> = {
  drained: "no pod waits but one, which is left to servers; raise tenants.waiting.replicas of the chart",
  unsuitable: "the pods that wait have other limits or another network",
  failed: "a pod that waits could not be taken",
};

export type PrewarmedPodsParts = {
  readonly api: KubernetesApi;
  readonly waiting: WaitingPods;
  readonly settings: PodSettings;
  readonly owner: PodOwner;
  /** See KubernetesServersParts. */
  readonly placeMs: number;
  readonly layers: RemoteLayers;
  /** Follows a pod that was taken until it has ended. */
  readonly follow: (pod: Stored<"pods">, own: Pick<PodServerParts, "onOutput" | "secret" | "on">) => PodServer;
};

/** Pods that have waited for any server, and whose interpreter waits for one of an organization (decision 077). */
export class PrewarmedPods {
  readonly #parts: PrewarmedPodsParts;

  constructor(parts: PrewarmedPodsParts) {
    this.#parts = parts;
  }

  /** See `ServerDriver.prewarm`. One change of the cluster. */
  async prewarm(spec: PrewarmSpec): Promise<PrewarmResult> {
    const { layers, follow, placeMs } = this.#parts;
    const dependencies = await dependenciesAt(layers, spec);
    const taken = await this.#take(spec);
    if (typeof taken === "string") return { ok: false, reason: reasons[taken], isFinal: false };
    const output = heldOutput();
    const imported = Promise.withResolvers<PrewarmStatus>();
    const secret = randomBytes(32).toString("base64url");
    const running = follow(taken.pod, { secret, onOutput: output.sink, on: { prewarm: imported.resolve } });
    try {
      const opened = await taken.opened;
      await opened.send({
        more: true,
        layers: [dependencies],
        start: prewarmStart(spec),
      });
    } catch (error) {
      void running.stop(0);
      throw error;
    }
    const late = sleep(placeMs + spec.startTimeoutMs, null, { ref: false });
    const first = await Promise.race([imported.promise, running.ended, late]);
    if (first !== null && "state" in first && first.state === "prewarmed")
      return { ok: true, prewarmed: this.#prewarmed(spec, { running, secret, passOn: output.passOn }) };
    await running.stop(0);
    if (first !== null && "state" in first) return { ok: false, reason: first.reason, isFinal: true };
    if (first?.layer) throw layerError(first.layer.code, new Error(first.layer.detail));
    const ending = first === null ? "it took too long" : (first.sentence ?? "it ended");
    return { ok: false, reason: output.last() ?? ending, isFinal: false };
  }

  async #take(spec: PrewarmSpec): Promise<TakenPod | PoolObstacle> {
    const { waiting, owner, settings } = this.#parts;
    const pod = prewarmedPod(spec, owner, settings);
    for (let waitedMs = 0; ; waitedMs += checkMs) {
      const taken = await waiting.take(pod, { ahead: true });
      if (taken !== "drained" || waitedMs >= vacancyMs) return taken;
      await sleep(checkMs, undefined, { ref: false });
    }
  }

  #prewarmed(spec: PrewarmSpec, interpreter: Interpreter): Extract<PrewarmResult, { ok: true }>["prewarmed"] {
    const { running } = interpreter;
    let isClaimed = false;
    return {
      ended: running.ended.then(() => {}),
      memoryBytes: async () => null,
      end: async () => {
        if (!isClaimed) await running.stop(0);
      },
      claim: async (organizationId, instance, onOutput) => {
        checkPrewarmed(spec, organizationId, instance);
        if (isClaimed) throw new SandboxError("invalid_spec", "An interpreter becomes one server only.");
        isClaimed = true;
        return await this.#claim(interpreter, instance, onOutput);
      },
    };
  }

  /** Two changes of the cluster, at the same time. */
  async #claim(
    { running, secret, passOn }: Interpreter,
    instance: InstanceSpec,
    onOutput: OutputSink,
  ): Promise<StartResult | { obstacle: PrewarmObstacle }> {
    const { api, waiting, owner, settings, placeMs, layers } = this.#parts;
    const startedAt = performance.now();
    const expected = serverPod(instance, owner, settings);
    const { pod } = running;
    // Gone, or the settings have changed meanwhile.
    if (pod === null || !fitsServer(pod, expected)) {
      void running.stop(0);
      return { obstacle: "ended" };
    }
    const named = { ...pod, metadata: { ...pod.metadata, labels: expected.metadata.labels ?? {} } };
    const become = async () => {
      const [opened, code] = await Promise.all([
        waiting.connect(pod),
        codeAt(layers, instance.server.layers.code),
        waiting.label(pod, expected),
      ]);
      await opened.send({ layers: [code], start: claimStart(instance, secret) });
    };
    try {
      const stored = serverSecret(instance, named, { secret, layers: [] }, true);
      await Promise.all([become(), api.create("secrets", stored)]);
    } catch (error) {
      void running.stop(0);
      throw error;
    }
    passOn(onOutput);
    const { instanceId, startTimeoutMs } = instance;
    const result = await awaitReady(running, { instanceId, startTimeoutMs, startedAt, placeMs });
    return result.ok ? { ...result, pool: "used" } : result;
  }
}

type Interpreter = {
  readonly running: PodServer;
  readonly secret: string;
  /** Passes what it has printed, and what follows, on to its server's log. */
  readonly passOn: (onOutput: OutputSink) => void;
};
