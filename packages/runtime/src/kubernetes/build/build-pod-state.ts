import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import { SandboxError } from "../../port/errors.ts";
import type { Exit } from "../../port/execution.ts";
import type { Stored } from "../api/objects.ts";
import type { BuildContainer } from "../pod/build-pod.ts";
import { podObstacle } from "../pod/pod-end.ts";

export type PodState =
  /** `address`: of the pod, all of whose containers run. */
  | { readonly kind: "running"; readonly address: string }
  /** `obstacle`: a sentence, what stands in its way; null: nothing so far. */
  | { readonly kind: "waiting"; readonly obstacle: string | null; readonly isHopeless: boolean }
  | { readonly kind: "ended" };

/** @param pod null: it is gone. Pure. */
export function podStateOf(pod: Stored<"pods"> | null): PodState {
  if (pod === null || pod.metadata.deletionTimestamp !== undefined) return { kind: "ended" };
  const { phase, podIP: address, containerStatuses: containers = [] } = pod.status ?? {};
  const isOver = phase === "Failed" || phase === "Succeeded";
  if (isOver || containers.some(({ state }) => state?.terminated !== undefined)) return { kind: "ended" };
  const isRunning = containers.length > 0 && containers.every(({ state }) => state?.running !== undefined);
  if (isRunning && address !== undefined) return { kind: "running", address };
  const obstacle = podObstacle(pod);
  if (obstacle === null) return { kind: "waiting", obstacle: null, isHopeless: false };
  const isRoom = obstacle.kind !== "image";
  const sentence = isRoom ? `The cluster has no room for it: ${obstacle.message}` : obstacle.message;
  // A node may be added. The kubelet tries an image again for hours; a build doesn't wait for it.
  return { kind: "waiting", obstacle: sentence, isHopeless: !isRoom };
}

/**
 * Why a step ended whose container doesn't answer any more. Null: the pod doesn't say, or not yet. Pure.
 *
 * @param pod null: it is gone
 */
export function lostStep(pod: Stored<"pods"> | null, container: BuildContainer): Exit | SandboxError | null {
  if (pod === null) return platformEnded("it was deleted");
  const { status = {}, metadata } = pod;
  const own = terminationOf(status.containerStatuses?.find(({ name }) => name === container));
  if (own?.reason === "OOMKilled") return ended("out-of-memory");
  if (status.reason === "Evicted") {
    const { message = "" } = status;
    // Its own volumes were too large, or the node's disk was full.
    if (/exceeds|exceeded/i.test(message)) return ended("disk-limit");
    return /ephemeral-storage|disk/i.test(message)
      ? ended("disk-full")
      : platformEnded(`it was evicted: ${message.replace(/\.$/, "")}`);
  }
  if (metadata.deletionTimestamp !== undefined) return platformEnded("it was deleted");
  if (status.conditions?.some(({ reason }) => reason === "NodeStatusUnknown"))
    return platformEnded("its node doesn't answer");
  return own === undefined ? null : platformEnded(`its container ended: ${own.reason ?? `status ${own.exitCode}`}`);
}

const ended = (reason: Exit["reason"]): Exit => ({ reason, code: null, signal: null });

const platformEnded = (why: string) => new SandboxError("platform_ended", `The build's pod ended: ${why}.`);

const terminationOf = (status: ContainerStatus | undefined) =>
  status?.state?.terminated ?? status?.lastState?.terminated;
