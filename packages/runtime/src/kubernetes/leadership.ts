import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunnerIdentity } from "../port/driver.ts";
import { SandboxError } from "../port/errors.ts";
import { type KubernetesApi, KubernetesError } from "./api/client.ts";
import type { Stored } from "./api/objects.ts";
import { managedBy } from "./pod/labels.ts";

type Lease = Stored<"leases">;

const leaseName = "towpath-runner";

/** All in milliseconds. */
type LeaseTimes = {
  /** A runner that hasn't renewed for this long is gone. Whole seconds. */
  readonly durationMs: number;
  /** A holder changes nothing this long after it sent the last renewal that succeeded: less than the duration. */
  readonly sureMs: number;
  readonly renewMs: number;
  /** How often a waiting runner looks, and a holder tries again. */
  readonly lookMs: number;
};

/**
 * A killed runner's lease is taken at most 7 s later. Two renewals may fail before its holder pauses, and what it began by
 * then has 1.5 s to arrive.
 */
export const leaseTimes: LeaseTimes = { durationMs: 6000, sureMs: 4500, renewMs: 1500, lookMs: 500 };

/** Limit of each request about the lease, so that another one can follow while its holder is sure. */
export const leaseRequestMs = leaseTimes.sureMs / 2;

/**
 * Waits until this process has the lease: at once if nobody has it, else when its holder gives it up or doesn't renew it any
 * more. As in Kubernetes' own programs, that is measured by this process's clock alone, and for as long as the holder has
 * written. The id is that of the lease; the generation grows with each holder.
 *
 * @param options.onWaiting called once if somebody has it; ends the wait by rejecting
 * @throws an error of the first request, unless it took too long; later ones are tried again
 */
export async function claimLease(
  api: KubernetesApi,
  options: { readonly times?: LeaseTimes; readonly onWaiting?: () => Promise<void> } = {},
): Promise<RunnerIdentity> {
  const { times = leaseTimes, onWaiting = async () => {} } = options;
  const holder = `${hostname()}-${randomUUID()}`;
  const durationSeconds = Math.ceil(times.durationMs / 1000);
  let seen = { version: "", at: performance.now() };
  const attempt = async (): Promise<Lease | null> => {
    const lease = await api.get("leases", leaseName);
    if (lease === null) return await created(api, holder, durationSeconds);
    // The answer to an earlier attempt was lost.
    if (lease.spec?.holderIdentity === holder) return lease;
    const { resourceVersion } = lease.metadata;
    if (resourceVersion !== seen.version) seen = { version: resourceVersion, at: performance.now() };
    const heldMs = 1000 * (lease.spec?.leaseDurationSeconds ?? durationSeconds);
    const isFree = !lease.spec?.holderIdentity || performance.now() - seen.at >= heldMs;
    return isFree ? await taken(api, lease, holder, durationSeconds) : null;
  };
  let claimed = await attempt().catch((error: unknown) => {
    // An API server that is busy or unreachable for a moment; a wrong address fails at once.
    if (isTimeout(error)) return null;
    throw error;
  });
  if (claimed === null) await onWaiting();
  while (claimed === null) {
    await sleep(times.lookMs);
    claimed = await attempt().catch(() => null);
  }
  return identityOf(claimed);
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (/^(Connect)?TimeoutError$/.test(error.name) || isTimeout(error.cause));

/** From 1. */
const identityOf = ({ metadata, spec }: Lease): RunnerIdentity => ({
  id: metadata.uid,
  generation: (spec?.leaseTransitions ?? 0) + 1,
});

async function created(
  api: KubernetesApi,
  holderIdentity: string,
  leaseDurationSeconds: number,
): Promise<Lease | null> {
  const time = now();
  const spec = { holderIdentity, leaseDurationSeconds, acquireTime: time, renewTime: time, leaseTransitions: 0 };
  return await unlessConflict(api.create("leases", { metadata: { name: leaseName, labels: managedBy }, spec }));
}

async function taken(
  api: KubernetesApi,
  lease: Lease,
  holderIdentity: string,
  leaseDurationSeconds: number,
): Promise<Lease | null> {
  const time = now();
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  const spec = { holderIdentity, leaseDurationSeconds, acquireTime: time, renewTime: time, leaseTransitions };
  return await unlessConflict(api.replace("leases", { ...lease, spec }));
}

export type KeptLease = {
  /**
   * Resolves when no other runner can have the lease: to be awaited before each change in the cluster.
   *
   * @throws an Error if it is lost, or can't be renewed for a while
   */
  sure(): Promise<void>;
  /** Gives it up, so that the next runner needn't wait. */
  release(): Promise<void>;
};

/** How long a change waits for a renewal. */
const unsureMs = 10_000;

/**
 * Renews a claimed lease. `onLost`: another runner has it, or it was deleted. While the API can't be reached the runner goes
 * on to serve; it may have lost the lease by then, so changes wait until a renewal shows that it hasn't.
 */
export function keepLease(
  api: KubernetesApi,
  identity: RunnerIdentity,
  onLost: () => void,
  times: LeaseTimes = leaseTimes,
): KeptLease {
  const stopped = new AbortController();
  const isOurs = (lease: Lease | null): lease is Lease => {
    const found = lease === null ? null : identityOf(lease);
    return found !== null && found.id === identity.id && found.generation === identity.generation;
  };
  let isLost = false;
  let known: Lease | null = null;
  let sureUntil = Number.NEGATIVE_INFINITY;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };

  /** Whether it was renewed. */
  const renew = async (): Promise<boolean> => {
    // Before it is sent: others measure from when they see it.
    const sentAt = performance.now();
    if (known === null) {
      const lease = await api.get("leases", leaseName);
      isLost = !isOurs(lease);
      if (isLost) return false;
      known = lease;
    }
    const before: Lease | null = known;
    known = null;
    if (before === null) return false;
    // A conflict means that it was changed meanwhile; the next round sees by whom.
    known = await unlessConflict(api.replace("leases", { ...before, spec: { ...before.spec, renewTime: now() } }));
    if (known !== null) sureUntil = sentAt + times.sureMs;
    return known !== null;
  };
  const renewing = (async () => {
    while (!stopped.signal.aborted) {
      const startedAt = performance.now();
      // Tried again. Deleted, it isn't found, which the next round reads.
      const isRenewed = await renew().catch(() => false);
      notify();
      if (isLost) return onLost();
      const pauseMs = isRenewed ? times.renewMs - (performance.now() - startedAt) : times.lookMs;
      await sleep(Math.max(0, pauseMs), undefined, { signal: stopped.signal, ref: false }).catch(() => {});
    }
  })();
  return {
    async sure() {
      const until = performance.now() + unsureMs;
      while (isLost || performance.now() >= sureUntil) {
        if (isLost)
          throw new Error("Another runner has the lease: this one may change nothing in the cluster any more.");
        const waitMs = until - performance.now();
        if (waitMs <= 0 || stopped.signal.aborted)
          throw new SandboxError(
            "unreachable",
            "The lease can't be renewed, so another runner may have it: nothing is changed meanwhile.",
          );
        await Promise.race([changed.promise, sleep(waitMs, undefined, { ref: false })]);
      }
    },
    async release() {
      stopped.abort();
      await renewing;
      const lease = await api.get("leases", leaseName).catch(() => null);
      if (!isOurs(lease)) return;
      await unlessConflict(api.replace("leases", { ...lease, spec: { ...lease.spec, holderIdentity: "" } })).catch(
        () => {},
      );
    },
  };
}

/** With microseconds, as the API requires. */
const now = () => new Date().toISOString().replace("Z", "000Z");

async function unlessConflict(change: Promise<Lease>): Promise<Lease | null> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 409) return null;
    throw error;
  }
}
