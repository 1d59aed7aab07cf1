import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import { type KubernetesApi, KubernetesError } from "../api/client.ts";
import type { New, Stored } from "../api/objects.ts";
import { buildLabels } from "../pod/build-pod.ts";
import { podStateOf } from "./pod-state.ts";

/** Also for a node that an autoscaler adds, and the download of the image. */
const startMs = 5 * 60_000;
const pollMs = 2_000;

/** Creates a pod. @throws SandboxError `setup_failed`, also if a quota is used up */
export async function createPod(api: KubernetesApi, pod: New<"pods">): Promise<Stored<"pods">> {
  try {
    return await api.create("pods", pod);
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    const quota = error.status === 403 && /quota/i.test(error.message);
    const problem = quota ? "The cluster's quota for builds is used up" : "The build's pod can't be created";
    throw new SandboxError("setup_failed", `${problem}: ${error.message}`, { cause: error });
  }
}

/** Waits until all containers of a pod run; resolves to its address. @throws SandboxError `setup_failed`, `platform_ended` */
export async function runningPod(api: KubernetesApi, created: Stored<"pods">, signal: AbortSignal): Promise<string> {
  const until = performance.now() + startMs;
  let reason: string | null = null;
  for await (const pod of versionsOf(api, created, signal)) {
    const state = pod === null ? ({ kind: "ended" } as const) : podStateOf(pod);
    if (state.kind === "running") return state.address;
    if (state.kind === "ended") throw new SandboxError("platform_ended", "The build's pod ended before it ran.");
    reason = state.reason ?? reason;
    if (state.isHopeless) break;
    if (performance.now() > until) {
      reason ??= `It doesn't run after ${startMs / 60_000} minutes.`;
      break;
    }
  }
  signal.throwIfAborted();
  throw new SandboxError("setup_failed", `The build's pod can't be started. ${reason ?? ""}`.trim());
}

/** The states of a pod from now on, by a watch; null: it is gone. Never ends by itself. */
async function* versionsOf(
  api: KubernetesApi,
  created: Stored<"pods">,
  signal: AbortSignal,
): AsyncGenerator<Stored<"pods"> | null> {
  const { name, labels = {} } = created.metadata;
  const selector = { [buildLabels.attempt]: labels[buildLabels.attempt] ?? "" };
  let { resourceVersion } = created.metadata;
  while (!signal.aborted) {
    const ended = new AbortController();
    // Not every second: what is awaited below arrives by the watch.
    const timer = setTimeout(() => ended.abort(), pollMs * 5);
    try {
      const events = api.watch("pods", selector, { resourceVersion, signal: AbortSignal.any([signal, ended.signal]) });
      for await (const { type, object } of events) {
        resourceVersion = object.metadata.resourceVersion;
        if (type === "DELETED") yield null;
        else if (type !== "BOOKMARK") yield object;
      }
    } catch {
      // The API server was away, or the version is too old: ask again.
      if (!ended.signal.aborted) await sleep(pollMs, undefined, { signal }).catch(() => {});
    } finally {
      clearTimeout(timer);
      ended.abort();
    }
    if (signal.aborted) return;
    const pod = await api.get("pods", name).catch(() => created);
    resourceVersion = pod?.metadata.resourceVersion ?? resourceVersion;
    yield pod;
  }
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
