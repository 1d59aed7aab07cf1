import { isDeepStrictEqual } from "node:util";
import type { Volume } from "kubernetes-types/core/v1.js";
import type { New, Stored } from "../api/objects.ts";
import { labels } from "../pod/labels.ts";
import { amountOf } from "../pod/parts.ts";
import { serverContainer } from "../pod/server-pod.ts";

/** Whether a container of a pod has ended: the pod can't become a server, which would seem to have ended. Pure. */
export const isWorn = ({ status }: Stored<"pods">): boolean =>
  (status?.containerStatuses ?? []).some(
    ({ restartCount, state }) => restartCount > 0 || state?.terminated !== undefined,
  );

/** Whether a pod waits, on a node that answers. Pure. */
export function isWaiting(pod: Stored<"pods">): boolean {
  const { metadata, status } = pod;
  if (isWorn(pod)) return false;
  const isReady = (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
  return metadata.deletionTimestamp === undefined && status?.podIP !== undefined && isReady;
}

/**
 * Whether a waiting pod can become a server: its container is like the one of the pod that would be created for it, with
 * the same image, runtime, limits, network and volumes. What else a cluster adds to pods doesn't matter. Pure.
 *
 * @param options.anyProcessors whether it may have others
 */
export function fitsServer(
  waiting: Stored<"pods">,
  expected: New<"pods">,
  options: { readonly anyProcessors?: boolean } = {},
): boolean {
  const [has, needs] = [shapeOf(waiting), shapeOf(expected)];
  const { volumes, ...more } = needs;
  const processors = options.anyProcessors === true ? has.processors : needs.processors;
  return (
    isDeepStrictEqual({ ...has, volumes: [] }, { ...more, processors, volumes: [] }) &&
    volumes.every((each) => has.volumes.some((other) => isDeepStrictEqual(each, other)))
  );
}

function shapeOf({ metadata, spec }: Pick<New<"pods">, "metadata" | "spec">) {
  const container = spec?.containers.find(({ name }) => name === serverContainer);
  const { requests = {}, limits = {} } = container?.resources ?? {};
  const mounted = container?.volumeMounts ?? [];
  const amounts = (of: "cpu" | "memory") => [requests[of], limits[of]].map((text = "") => amountOf(text));
  return {
    network: metadata.labels?.[labels.network],
    runtimeClass: spec?.runtimeClassName ?? null,
    lifetimeSeconds: spec?.activeDeadlineSeconds ?? null,
    image: container?.image,
    processors: amounts("cpu"),
    memory: amounts("memory"),
    volumes: mounted.map(({ name, mountPath, readOnly = false }) => {
      const volume = spec?.volumes?.find((each) => each.name === name);
      return { mountPath, readOnly, ...kindOf(volume) };
    }),
  };
}

const kindOf = (volume: Volume | undefined) =>
  volume?.emptyDir === undefined
    ? { claim: volume?.persistentVolumeClaim?.claimName ?? null }
    : { medium: volume.emptyDir.medium ?? "", bytes: amountOf(volume.emptyDir.sizeLimit ?? "") };
