import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { KubernetesApi } from "./api/client.ts";
import type { New, Stored } from "./api/objects.ts";
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
  return await withProbe(api, probePod(settings), async (pod) => {
    await removeEnded(api).catch(() => {});
    return await reportOf(api, pod, { schema: reportSchema, timeoutMs });
  });
}

/** Makes a pod that tests the cluster, and removes it after `use`. */
export async function withProbe<Result>(
  api: KubernetesApi,
  pod: New<"pods">,
  use: (pod: Stored<"pods">) => Promise<Result>,
): Promise<Result> {
  const created = await api.create("pods", pod);
  const { name, uid } = created.metadata;
  try {
    return await use(created);
  } finally {
    await api.delete("pods", name, { graceSeconds: 1, uid }).catch(() => {});
  }
}

/**
 * What the pod reports when it ends.
 *
 * @throws Error with a sentence for the operator
 */
export async function reportOf<Report>(
  api: KubernetesApi,
  pod: Stored<"pods">,
  options: { readonly schema: z.ZodType<Report>; readonly timeoutMs: number },
): Promise<Report> {
  return await untilPod(api, pod, options.timeoutMs, "end", ({ status }) => {
    const terminated = status?.containerStatuses?.[0]?.state?.terminated;
    return terminated && parsed(options.schema, terminated.message ?? "", terminated.exitCode ?? -1);
  });
}

/**
 * Polls a pod until `read` finds something in it.
 *
 * @throws Error with a sentence for the operator, which says that it did not `verb`
 */
export async function untilPod<Found>(
  api: KubernetesApi,
  { metadata: { name } }: Stored<"pods">,
  timeoutMs: number,
  verb: string,
  read: (pod: Stored<"pods">) => Found | undefined,
): Promise<Found> {
  const startedAt = performance.now();
  let obstacle = "it was neither refused nor started";
  for (const until = startedAt + timeoutMs; performance.now() < until; await sleep(pollMs)) {
    const pod = await api.get("pods", name);
    if (pod === null) throw new Error("The pod that tests the cluster was deleted.");
    const found = read(pod);
    if (found !== undefined) return found;
    if (pod.status?.phase === "Failed")
      throw new Error(`Kubernetes ended the pod that tests the cluster: ${pod.status.message}`);
    const seen = podObstacle(pod);
    obstacle = seen?.message ?? obstacle;
    if (seen?.kind === "image" && performance.now() - startedAt > imageMs) throw new Error(obstacle);
  }
  throw new Error(`The pod that tests the cluster did not ${verb} within ${timeoutMs / 1000} s: ${obstacle}`);
}

/** Those of processes that were killed. */
async function removeEnded(api: KubernetesApi): Promise<void> {
  const { items } = await api.list("pods", { [labels.probe]: null });
  const ended = items.filter(({ status }) => status?.phase === "Failed" || status?.phase === "Succeeded");
  await Promise.all(ended.map(({ metadata: { name, uid } }) => api.delete("pods", name, { graceSeconds: 1, uid })));
}

function parsed<Report>(schema: z.ZodType<Report>, message: string, exitCode: number): Report {
  try {
    return schema.parse(JSON.parse(message));
  } catch (cause) {
    throw new Error(
      `The pod that tests the cluster ended with status ${exitCode} and without a report. TOWPATH_KUBERNETES_IMAGE must be the image of servers of this release.`,
      { cause },
    );
  }
}
