import { setTimeout as sleep } from "node:timers/promises";
import { type KubernetesApi, KubernetesError } from "../api/client.ts";
import { serverContainer } from "../pod/server-pod.ts";
import type { Records } from "./records.ts";

const pauseMs = 500;

/**
 * Passes the output of a server on until its container has ended and all of it was read, or the pod is gone. Begins again
 * after an outage.
 *
 * @param options.hasEnded whether the container has ended
 * @param options.signal ends it earlier
 */
export async function followLog(
  api: KubernetesApi,
  pod: string,
  records: Records,
  options: { readonly hasEnded: () => boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { hasEnded, signal } = options;
  while (!signal.aborted) {
    // Before the request: a log that is read after the end is complete.
    const isLast = hasEnded();
    try {
      records.restart();
      for await (const chunk of await api.logs(pod, serverContainer, { signal })) records.push(chunk as Buffer);
      if (isLast || hasEnded()) return;
    } catch (error) {
      if (error instanceof KubernetesError && error.status === 404) return;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
