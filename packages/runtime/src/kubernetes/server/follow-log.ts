import { setTimeout as sleep } from "node:timers/promises";
import { type KubernetesApi, KubernetesError } from "../api/client.ts";
import { serverContainer } from "../pod/server-pod.ts";
import type { Records } from "./records.ts";

const pauseMs = 500;
/** An API server that restarts is gone for seconds. */
const silentFailures = 20;

/**
 * Passes the output of a server on until its container has ended and all of it was read, or the pod is gone. Begins again
 * after an outage.
 *
 * @param options.hasEnded whether the container has ended, or the pod is gone
 * @param options.hasRestarted whether it has been started again since, with a log of its own
 * @param options.signal ends it earlier
 * @param options.onLost called once if the output can't be read for a while
 */
export async function followLog(
  api: KubernetesApi,
  pod: string,
  records: Records,
  options: {
    readonly hasEnded: () => boolean;
    readonly hasRestarted: () => boolean;
    readonly signal: AbortSignal;
    readonly onLost: (error: unknown) => void;
  },
): Promise<void> {
  const { hasEnded, hasRestarted, signal, onLost } = options;
  let failures = 0;
  while (!signal.aborted) {
    // Before the request: a log that is read after the end is complete.
    const isLast = hasEnded();
    try {
      records.restart();
      const log = await api.logs(pod, serverContainer, { signal, previous: isLast && hasRestarted() });
      for await (const chunk of log) records.push(chunk as Buffer);
      failures = 0;
      if (isLast || hasEnded()) return;
    } catch (error) {
      if (signal.aborted) return;
      // The kubelet of a pod that is there doesn't know it yet after a start of its own.
      if (error instanceof KubernetesError && error.status === 404 && isLast) return;
      if (++failures === silentFailures) onLost(error);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
