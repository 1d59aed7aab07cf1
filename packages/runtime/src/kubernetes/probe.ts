import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { KubernetesApi } from "./api/client.ts";
import type { PodSettings } from "./config.ts";
import { labels } from "./pod/labels.ts";
import { podObstacle } from "./pod/pod-end.ts";
import { probePod } from "./pod/probe-pod.ts";

/** See probe.py. */
const reportSchema = z.object({ pythons: z.array(z.string()), checks: z.record(z.string(), z.string()) });
export type ProbeReport = z.output<typeof reportSchema>;

const pollMs = 250;
/** A registry may fail once. */
const imageMs = 15_000;

/**
 * Runs a pod that reports on itself, and removes it.
 *
 * @param timeoutMs for a node, the image and the program
 * @throws Error with a sentence for the operator
 */
export async function probeCluster(api: KubernetesApi, settings: PodSettings, timeoutMs: number): Promise<ProbeReport> {
  const { metadata } = await api.create("pods", probePod(settings));
  await removeEnded(api).catch(() => {});
  const startedAt = performance.now();
  try {
    let obstacle = "it was neither refused nor started";
    for (const until = performance.now() + timeoutMs; performance.now() < until; await sleep(pollMs)) {
      const pod = await api.get("pods", metadata.name);
      if (pod === null) throw new Error("The pod that tests the cluster was deleted.");
      const terminated = pod.status?.containerStatuses?.[0]?.state?.terminated;
      if (terminated !== undefined) return reportOf(terminated.message ?? "", terminated.exitCode ?? -1);
      if (pod.status?.phase === "Failed")
        throw new Error(`Kubernetes ended the pod that tests the cluster: ${pod.status.message}`);
      const found = podObstacle(pod);
      obstacle = found?.message ?? obstacle;
      if (found?.kind === "image" && performance.now() - startedAt > imageMs) throw new Error(obstacle);
    }
    throw new Error(`The pod that tests the cluster did not end within ${timeoutMs / 1000} s: ${obstacle}`);
  } finally {
    await api.delete("pods", metadata.name, { graceSeconds: 1, uid: metadata.uid }).catch(() => {});
  }
}

/** Those of processes that were killed. */
async function removeEnded(api: KubernetesApi): Promise<void> {
  const { items } = await api.list("pods", { [labels.role]: "probe" });
  const ended = items.filter(({ status }) => status?.phase === "Failed" || status?.phase === "Succeeded");
  await Promise.all(ended.map(({ metadata: { name, uid } }) => api.delete("pods", name, { graceSeconds: 1, uid })));
}

function reportOf(message: string, exitCode: number): ProbeReport {
  try {
    return reportSchema.parse(JSON.parse(message));
  } catch (cause) {
    throw new Error(
      `The pod that tests the cluster ended with status ${exitCode} and without a report. TOWPATH_KUBERNETES_IMAGE must be the image of servers of this release.`,
      { cause },
    );
  }
}
