import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import { type KubernetesApi, KubernetesError } from "../api/client.ts";
import type { New, Stored } from "../api/objects.ts";
import { podStateOf } from "./build-pod-state.ts";

/** Also for a node that an autoscaler adds, and the download of the image. */
const startMs = 5 * 60_000;
const firstPollMs = 100;
const maxPollMs = 1000;

/** Creates a pod. @throws SandboxError `setup_failed`, also if a quota is used up */
export async function createPod(api: KubernetesApi, pod: New<"pods">): Promise<Stored<"pods">> {
  try {
    return await api.create("pods", pod);
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    const isQuota = error.status === 403 && /quota/i.test(error.message);
    const problem = isQuota ? "The cluster's quota for builds is used up" : "The build's pod can't be created";
    throw new SandboxError("setup_failed", `${problem}: ${error.message}`, { cause: error });
  }
}

/**
 * Waits until all containers of a pod run; resolves to its address.
 *
 * @throws SandboxError `setup_failed`, `platform_ended`; the signal's reason
 */
export async function runningPod(
  api: KubernetesApi,
  { metadata }: Stored<"pods">,
  signal: AbortSignal,
): Promise<string> {
  const until = performance.now() + startMs;
  let reason = `It doesn't run after ${startMs / 60_000} minutes.`;
  for (let pauseMs = firstPollMs; performance.now() < until; pauseMs = Math.min(pauseMs * 1.3, maxPollMs)) {
    await sleep(pauseMs, undefined, { signal });
    // While the API server is away, nothing changes.
    const pod = await api.get("pods", metadata.name).catch(() => undefined);
    if (pod === undefined) continue;
    const state = podStateOf(pod);
    if (state.kind === "running") return state.address;
    if (state.kind === "ended") throw new SandboxError("platform_ended", "The build's pod ended before it ran.");
    reason = state.obstacle ?? reason;
    if (state.isHopeless) break;
  }
  throw new SandboxError("setup_failed", `The build's pod can't be started. ${reason}`);
}

const goneMs = 30_000;

/** Deletes a pod and waits until its containers have ended. */
export async function removePod(api: KubernetesApi, { metadata: { name, uid } }: Stored<"pods">): Promise<void> {
  await api.delete("pods", name, { graceSeconds: 1, uid });
  for (const until = performance.now() + goneMs; performance.now() < until; await sleep(200)) {
    const found = await api.get("pods", name);
    if (found === null || found.metadata.uid !== uid) return;
  }
}
