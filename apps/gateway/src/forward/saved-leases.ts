import { isOfCaller, type ServerEndpoint, type ServerKey } from "@towpath/runner-api";
import { z } from "zod";
import type { Lease } from "./instance-lease.ts";

/** Last known endpoint of a server, kept sealed. `validUntil`: end of its lease, milliseconds since 1970. */
export const savedLeaseSchema = z.object({
  /** A `ServerKey`; the name is that of earlier versions. */
  deploymentId: z.string(),
  instanceId: z.string(),
  path: z.string(),
  secret: z.string(),
  validUntil: z.number(),
});
export type SavedLease = z.infer<typeof savedLeaseSchema>;

type Known = Pick<Lease, "instanceId" | "validUntil"> & { readonly endpoint: ServerEndpoint };

/**
 * Leases of earlier and other processes of this gateway: without a runner nobody else knows where a server listens.
 * Only unix sockets, whose paths belong to one instance forever; an address and port may have passed to another tenant,
 * who would get the request and the secret.
 */
export class SavedLeases {
  readonly #byServer = new Map<ServerKey, SavedLease>();
  readonly #maxAgeMs: number;
  /** Restores what other processes saved. Called when the runner is unreachable and a server is unknown. */
  onUnknown: (() => Promise<void>) | null = null;

  /** `maxAgeMs`: how long a lease is usable after it has ended. */
  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /** For the next process: leases of this one, and unused ones of others. `now`: performance.now(). */
  withOwn(leases: readonly Lease[], now: number): SavedLease[] {
    const all = new Map([...this.#byServer].filter(([, lease]) => this.#isUsable(lease)));
    for (const { server: deploymentId, instanceId, endpoint, validUntil } of leases) {
      if (endpoint.kind !== "unix") all.delete(deploymentId);
      else {
        const { path, secret } = endpoint;
        all.set(deploymentId, { deploymentId, instanceId, path, secret, validUntil: Date.now() - now + validUntil });
      }
    }
    return [...all.values()];
  }

  restore(saved: readonly SavedLease[]): void {
    for (const lease of saved) {
      const known = this.#byServer.get(lease.deploymentId);
      if (!known || known.validUntil < lease.validUntil) this.#byServer.set(lease.deploymentId, lease);
    }
    for (const [deploymentId, lease] of this.#byServer) if (!this.#isUsable(lease)) this.#byServer.delete(deploymentId);
  }

  /** See `Leases.callerChanged`. */
  forgetCaller(callerId: string | null): void {
    for (const server of this.#byServer.keys()) if (isOfCaller(server, callerId)) this.#byServer.delete(server);
  }

  async find(server: ServerKey): Promise<Known | null> {
    await this.onUnknown?.();
    const lease = this.#byServer.get(server);
    if (!lease || !this.#isUsable(lease)) return null;
    const { instanceId, path, secret, validUntil } = lease;
    const endpoint = { kind: "unix" as const, path, secret };
    return { instanceId, endpoint, validUntil: validUntil - Date.now() + performance.now() };
  }

  /** A lease that ends far in the future comes from a clock that was fast. */
  #isUsable({ validUntil }: SavedLease): boolean {
    return Math.abs(Date.now() - validUntil) < this.#maxAgeMs;
  }
}
