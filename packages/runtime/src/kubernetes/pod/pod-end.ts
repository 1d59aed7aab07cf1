import { z } from "zod";
import { parseFailure } from "../../host/server/harness-status.ts";
import { stackOf } from "../../host/server/stack-dump.ts";
import type { Exit } from "../../port/execution.ts";
import type { HarnessStatus, LateStart } from "../../port/servers.ts";
import type { Stored } from "../api/objects.ts";
import { fetchContainer, serverContainer } from "./server-pod.ts";

type Pod = Stored<"pods">;

/** What a container reported: see report.py. The server's code could have written it, too. */
const reportSchema = z.object({
  failed: z.unknown().optional(),
  signal: z.string().max(20).optional(),
  late: z
    .object({
      afterMs: z.number(),
      processorMs: z.number(),
      activity: z.enum(["starved", "busy", "waiting"]),
    })
    .optional(),
  layer: z.enum(["not_found", "digest_mismatch", "unavailable"]).optional(),
  detail: z.string().optional(),
});

/** How a server's pod ended. */
export type PodEnd = {
  readonly exit: Exit;
  /** For the server's log, if Kubernetes ended it. */
  readonly sentence: string | null;
  readonly failure: Extract<HarnessStatus, { state: "failed" }> | null;
  readonly late: Omit<LateStart, "stack"> | null;
  /** Why its layers didn't arrive; nothing ran then. */
  readonly layer: { readonly code: "not_found" | "digest_mismatch" | "unavailable"; readonly detail: string } | null;
};

const ended = (exit: Partial<Exit>, more: Partial<PodEnd> = {}): PodEnd => ({
  exit: { reason: "platform-ended", code: null, signal: null, ...exit },
  sentence: null,
  failure: null,
  late: null,
  layer: null,
  ...more,
});

export const deletedByOthers = ended({}, { sentence: "The server's pod was deleted." });

export const lostNode = ended({}, { sentence: "The node of the server doesn't answer any more: it is lost." });

const disruptions: Readonly<Record<string, string>> = {
  PreemptionByScheduler: "Kubernetes ended the server to make room for pods of a higher priority.",
  DeletionByTaintManager: "The node of the server was lost or must not run it any more.",
  EvictionByEvictionAPI: "The node of the server is being emptied.",
  DeletionByPodGC: "The node of the server is gone.",
  TerminationByKubelet: "The node of the server is shutting down or has too little memory or disk.",
};

/** How it ended; null while it runs or waits. Pure. */
export function podEnd(pod: Pod): PodEnd | null {
  const { status = {} } = pod;
  if (status.reason === "Evicted") {
    const message = status.message ?? "";
    const sentence = `Kubernetes evicted the server: ${message}`;
    return ended({ reason: /emptydir|ephemeral/i.test(message) ? "disk-limit" : "platform-ended" }, { sentence });
  }
  const terminated = endOf(pod, serverContainer);
  const disruption = (status.conditions ?? []).find(
    ({ type, status: is }) => type === "DisruptionTarget" && is === "True",
  );
  if (disruption !== undefined && (terminated !== undefined || status.phase === "Failed"))
    return ended({}, { sentence: disruptions[disruption.reason ?? ""] ?? disruption.message ?? "Its node ended it." });
  // The server waits then, or has been ended with the pod.
  const failedFetch = endOf(pod, fetchContainer);
  if (failedFetch !== undefined && failedFetch.exitCode !== 0 && terminated?.reason !== "ContainerStatusUnknown") {
    const { exitCode, reason, message } = failedFetch;
    const { layer: code = "unavailable", detail } = reportOf(message);
    // A container that can't start has no report but the runtime's message.
    const other = reason === "StartError" ? `${reason}: ${message}` : (reason ?? `status ${exitCode}`);
    return ended({}, { layer: { code, detail: detail ?? other } });
  }
  if (terminated !== undefined) {
    const { exitCode: code, reason } = terminated;
    const report = reportOf(terminated.message);
    if (reason === "OOMKilled") return ended({ reason: "out-of-memory", signal: "SIGKILL" });
    if (reason === "ContainerStatusUnknown" || reason === "StartError" || reason === "ContainerCannotRun")
      return ended({}, { sentence: `Its container could not run: ${terminated.message ?? reason}` });
    const { late = null, signal } = report;
    const failure = report.failed === undefined ? null : parseFailure(JSON.stringify(report.failed));
    if (signal !== undefined) return ended({ reason: "signaled", signal }, { failure, late });
    // The program that started the server was killed.
    if (code === 137) return ended({ reason: "signaled", signal: "SIGKILL" }, { failure, late });
    return ended({ reason: "exited", code }, { failure, late });
  }
  if (status.phase === "Failed" || status.phase === "Succeeded") {
    const sentence = `Kubernetes ended the server: ${status.message ?? status.reason ?? "it gave no reason"}`;
    return ended({}, { sentence });
  }
  return null;
}

/** How a container ended first. Those of a pod that has waited are started again, and do nothing then. */
function endOf({ status }: Pod, container: string) {
  const [found] = (status?.containerStatuses ?? []).filter(({ name }) => name === container);
  return found?.lastState?.terminated ?? found?.state?.terminated;
}

const noVolume =
  "Check that TOWPATH_KUBERNETES_STORAGE_CLASS and TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS name classes that kubectl get storageclass lists.";

export type PodObstacle = { readonly kind: "image" | "room" | "volume"; readonly message: string };

/** Why a pod waits though it should run, in a sentence; null if nothing stands in its way. Pure. */
export function podObstacle(pod: Pod): PodObstacle | null {
  const { conditions = [], containerStatuses = [] } = pod.status ?? {};
  for (const { state } of containerStatuses) {
    const { reason = "", message = "" } = state?.waiting ?? {};
    if (/^(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName|ImageInspectError)$/.test(reason))
      return { kind: "image", message: `The image of servers can't be had (${reason}): ${message}` };
  }
  const scheduled = conditions.find(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable");
  if (scheduled === undefined) return null;
  const { message = "" } = scheduled;
  const lacksVolume = / PersistentVolumeClaim/i.test(message);
  return lacksVolume ? { kind: "volume", message: `${message} ${noVolume}` } : { kind: "room", message };
}

/** Whether the server's program has begun, so that there is output. Pure. */
export function hasStarted(pod: Pod): boolean {
  const [server] = (pod.status?.containerStatuses ?? []).filter(({ name }) => name === serverContainer);
  return server?.state?.running !== undefined || server?.state?.terminated !== undefined;
}

/** Whether the server's container has been started again after its end. Pure. */
export const hasRestarted = (pod: Pod | null): boolean =>
  (pod?.status?.containerStatuses ?? []).some(({ name, restartCount }) => name === serverContainer && restartCount > 0);

export const lateStart = (late: Omit<LateStart, "stack">, dump: readonly string[]): LateStart => ({
  ...late,
  stack: dump.length === 0 ? [] : stackOf(dump.join("\n")),
});

function reportOf(message: string | undefined): z.output<typeof reportSchema> {
  try {
    const parsed = reportSchema.safeParse(JSON.parse(message ?? ""));
    return parsed.success ? parsed.data : {};
  } catch {
    return {};
  }
}
