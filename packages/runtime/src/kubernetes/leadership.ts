import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunnerIdentity } from "../port/driver.ts";
import { type KubernetesApi, KubernetesError } from "./api/client.ts";
import type { Stored } from "./api/objects.ts";
import { managedBy } from "./pod/labels.ts";

type Lease = Stored<"leases">;

const leaseName = "towpath-runner";
/** A runner that hasn't renewed for this long is gone. */
const durationMs = 15_000;
const renewMs = 2_000;
const lookMs = 1_000;

/**
 * Waits until this process has the lease: at once if nobody has it, else when its holder gives it up or doesn't renew it any
 * more. As in Kubernetes' own programs, that is measured by this process's clock alone. The id is that of the lease; the
 * generation grows with each holder.
 *
 * @param times for tests, milliseconds
 */
export async function claimLease(
  api: KubernetesApi,
  times: { readonly durationMs: number; readonly lookMs: number } = { durationMs, lookMs },
): Promise<RunnerIdentity> {
  const holder = `${hostname()}-${randomUUID()}`;
  const durationSeconds = Math.ceil(times.durationMs / 1000);
  let seen = { version: "", at: performance.now() };
  for (;;) {
    const lease = await api.get("leases", leaseName);
    if (lease !== null && lease.metadata.resourceVersion !== seen.version)
      seen = { version: lease.metadata.resourceVersion, at: performance.now() };
    const isFree = lease !== null && (!lease.spec?.holderIdentity || performance.now() - seen.at >= times.durationMs);
    const claimed =
      lease === null
        ? await created(api, holder, durationSeconds)
        : isFree
          ? await taken(api, lease, holder, durationSeconds)
          : null;
    if (claimed !== null) return identityOf(claimed);
    await sleep(times.lookMs);
  }
}

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
  /** Gives it up, so that the next runner needn't wait. */
  release(): Promise<void>;
};

/**
 * Renews a claimed lease. `onLost`: another runner has it, or it was deleted. While the API can't be reached nobody can take
 * it, so the runner goes on.
 */
export function keepLease(
  api: KubernetesApi,
  identity: RunnerIdentity,
  onLost: () => void,
  everyMs = renewMs,
): KeptLease {
  const stopped = new AbortController();
  const isOurs = (lease: Lease | null): lease is Lease => {
    const found = lease === null ? null : identityOf(lease);
    return found !== null && found.id === identity.id && found.generation === identity.generation;
  };
  const renewing = (async () => {
    while (!stopped.signal.aborted) {
      try {
        const lease = await api.get("leases", leaseName);
        if (!isOurs(lease)) return onLost();
        // A conflict means that it was changed meanwhile; the next round sees by whom.
        await unlessConflict(api.replace("leases", { ...lease, spec: { ...lease.spec, renewTime: now() } }));
      } catch {
        // Tried again.
      }
      await sleep(everyMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
    }
  })();
  return {
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
