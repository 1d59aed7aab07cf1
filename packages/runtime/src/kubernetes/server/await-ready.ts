import { setTimeout as sleep } from "node:timers/promises";
import type { Ready } from "../../host/server/harness-status.ts";
import { SandboxError } from "../../port/errors.ts";
import type { StartResult } from "../../port/servers.ts";
import { podObstacle } from "../pod/pod-end.ts";
import { type Address, askReady } from "./ask-server.ts";
import type { PodServer } from "./pod-server.ts";
import { failureOf, noRoom } from "./start-failure.ts";

const minPollMs = 20;
const maxPollMs = 250;
/** A pause as part of the time so far: a start loses no more by it. */
const pollShare = 0.04;
const checkMs = 500;
/** As in serve.py. */
const maxRounds = 3;
/** A registry may fail once. */
const imageMs = 20_000;

type Waiting = {
  readonly instanceId: string;
  readonly startTimeoutMs: number;
  /** Of `performance.now()`. */
  readonly startedAt: number;
  /** How long a pod may wait for a node and its image, milliseconds. */
  readonly placeMs: number;
  /** Called with the reason when no volume was found for the pod. */
  readonly onNoVolume?: (reason: string) => void;
};

/**
 * Waits for a pod's server to answer, or for what keeps it from that.
 *
 * @throws SandboxError if the pod can't begin
 */
export async function awaitReady(
  running: PodServer,
  { instanceId, startedAt, ...waiting }: Waiting,
): Promise<StartResult> {
  const done = new AbortController();
  try {
    const first = await Promise.race([
      untilReady(running, done.signal),
      running.ended,
      untilStuck(running, waiting, done.signal),
    ]);
    if (first instanceof SandboxError) {
      void running.stop(0);
      throw first;
    }
    if ("address" in first) {
      const { address, ready } = first;
      const { prewarm, bridge, incomplete } = ready;
      const more = { ...(prewarm && { prewarm }), ...(bridge && { bridge }), ...(incomplete && { incomplete }) };
      return { ok: true, handle: running.handle(instanceId, address), startMs: performance.now() - startedAt, ...more };
    }
    return failureOf(first, running.stack);
  } finally {
    done.abort();
  }
}

async function untilReady(running: PodServer, signal: AbortSignal): Promise<{ address: Address; ready: Ready }> {
  const startedAt = performance.now();
  for (;;) {
    const { address } = running;
    const ready = address === null ? null : await askReady(address, signal);
    if (address !== null && ready !== null) return { address, ready };
    const pauseMs = Math.min(Math.max(minPollMs, pollShare * (performance.now() - startedAt)), maxPollMs);
    await sleep(pauseMs, undefined, { signal }).catch(() => new Promise(() => {}));
  }
}

/** Resolves when the pod can't begin. */
async function untilStuck(
  running: PodServer,
  { startTimeoutMs, placeMs, onNoVolume }: Pick<Waiting, "startTimeoutMs" | "placeMs" | "onNoVolume">,
  signal: AbortSignal,
): Promise<SandboxError> {
  for (let waitedMs = 0; ; waitedMs += checkMs) {
    await sleep(checkMs, undefined, { signal }).catch(() => new Promise(() => {}));
    const { pod } = running;
    const obstacle = pod === null ? null : podObstacle(pod);
    if (obstacle?.kind === "image" && waitedMs >= imageMs) return new SandboxError("setup_failed", obstacle.message);
    const isWaiting = pod === null || pod.status?.phase === "Pending";
    // A pod that runs ends by itself when its start takes too long, unless its node hangs.
    const maxMs = placeMs + (isWaiting ? 0 : maxRounds * startTimeoutMs);
    if (waitedMs < maxMs) continue;
    if (obstacle?.kind === "volume") onNoVolume?.(obstacle.message);
    if (obstacle !== null && obstacle.kind !== "image") return noRoom(obstacle.message);
    const what = isWaiting ? "start" : "get ready";
    return new SandboxError("setup_failed", `The pod of the server did not ${what} within ${waitedMs / 1000} s.`);
  }
}
