import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import { SandboxError } from "../../port/errors.ts";
import type { Exit } from "../../port/execution.ts";
import type { Stored } from "../api/objects.ts";
import type { BuildContainer } from "../pod/build-pod.ts";

export type PodState =
  /** `address`: of the pod, all of whose containers run. */
  | { readonly kind: "running"; readonly address: string }
  /** `reason`: a sentence, why it doesn't run yet; null: nothing is wrong so far. */
  | { readonly kind: "waiting"; readonly reason: string | null; readonly isHopeless: boolean }
  | { readonly kind: "ended" };

/** The kubelet tries such things again for hours; a build doesn't wait for them. */
const hopeless: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

/** Pure. */
export function podStateOf({ metadata, spec, status }: Stored<"pods">): PodState {
  const statuses = status?.containerStatuses ?? [];
  const phase = status?.phase;
  const isOver = phase === "Failed" || phase === "Succeeded" || metadata.deletionTimestamp !== undefined;
  if (isOver || statuses.some(({ state }) => state?.terminated !== undefined)) return { kind: "ended" };
  const isRunning = statuses.length > 0 && statuses.every(({ state }) => state?.running !== undefined);
  if (isRunning && status?.podIP !== undefined) return { kind: "running", address: status.podIP };
  const stuck = statuses.map(({ state }) => state?.waiting).find((each) => hopeless.has(each?.reason ?? ""));
  if (stuck !== undefined) {
    const image = spec?.containers?.[0]?.image;
    const isImage = /image/i.test(stuck.reason ?? "");
    const problem = isImage ? `The image ${image} can't be pulled` : "The pod's containers can't be started";
    return { kind: "waiting", reason: `${problem}: ${stuck.message ?? stuck.reason}.`, isHopeless: true };
  }
  const unplaced = status?.conditions?.find(
    ({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable",
  );
  const reason = unplaced === undefined ? null : `The cluster has no room for the pod: ${unplaced.message}`;
  return { kind: "waiting", reason, isHopeless: false };
}

/**
 * Why a step ended whose container doesn't answer any more. Null: the pod is not to blame. Pure.
 *
 * @param pod null: it is gone
 */
export function lostStep(pod: Stored<"pods"> | null, container: BuildContainer): Exit | SandboxError | null {
  const ended = (reason: Exit["reason"]): Exit => ({ reason, code: null, signal: null });
  if (pod === null) return platformEnded("it was deleted");
  const { status, metadata } = pod;
  const found = status?.containerStatuses?.find(({ name }) => name === container);
  if (terminatedBy(found) === "OOMKilled") return ended("out-of-memory");
  if (status?.reason === "Evicted") {
    const message = status.message ?? "";
    if (/emptyDir|ephemeral/i.test(message) && /exceed/i.test(message)) return ended("disk-limit");
    return /ephemeral-storage|disk/i.test(message) ? ended("disk-full") : platformEnded(`it was evicted: ${message}`);
  }
  if (metadata.deletionTimestamp !== undefined) return platformEnded("it was deleted");
  if (status?.reason === "NodeLost" || isUnready(pod)) return platformEnded("its node doesn't answer");
  return terminatedBy(found) === null ? null : platformEnded(`its container ended: ${terminatedBy(found)}`);
}

const platformEnded = (why: string) => new SandboxError("platform_ended", `The build's pod ended: ${why}.`);

const terminatedBy = (status: ContainerStatus | undefined): string | null => {
  const terminated = status?.state?.terminated ?? status?.lastState?.terminated;
  return terminated === undefined ? null : (terminated.reason ?? `status ${terminated.exitCode}`);
};

/** Set by the node controller. */
const isUnready = ({ status }: Stored<"pods">): boolean =>
  status?.conditions?.some(({ type, reason }) => type === "Ready" && reason === "NodeStatusUnknown") ?? false;
