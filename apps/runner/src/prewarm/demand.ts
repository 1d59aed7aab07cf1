import type { ServerSpec } from "@towpath/runtime";
import type { Demand } from "./plan.ts";

/** The dependencies of a prewarmed interpreter. Servers of one organization with equal ones can share interpreters. */
export type Kind = {
  readonly organizationId: string;
  readonly server: Pick<ServerSpec, "layers" | "pythonVersion" | "network" | "limits">;
};

export type ServerIdentity = {
  readonly organizationId: string;
  /** Host label of its route: all deployments of a server have the same. */
  readonly label: string;
  readonly deploymentId: string;
  /** The person whom alone it serves (CAP-1); null or absent: all callers. */
  readonly callerId?: string | null;
};

type Entry = {
  readonly kind: Kind;
  /** By label and caller: each caller's own may start at the same moment. */
  readonly servers: Map<string, { label: string; deploymentId: string; lastUsedAt: number; running: number }>;
  bytes: number | null;
};

const maxKinds = 1000;

/** Equal for all servers that can use the same interpreter. */
export function kindName({ organizationId, server }: Kind): string {
  const { layers, pythonVersion, network, limits } = server;
  return [organizationId, layers.dependencies, pythonVersion, network, limits.tmpBytes, limits.fileBytes].join(" ");
}

/** Remembers for some time which kinds this host's servers needed. Times by Date.now(). */
export class DemandRecord {
  readonly #entries = new Map<string, Entry>();
  readonly #forgetAfterMs: number;

  /** `forgetAfterMs`: since a server last started or ended. */
  constructor(forgetAfterMs: number) {
    this.#forgetAfterMs = forgetAfterMs;
  }

  /** A server of this kind starts or, with `at`, is known to have run. Returns a function to call when it ends. */
  used(
    { label, deploymentId, callerId = null }: ServerIdentity,
    kind: Kind,
    at = Date.now(),
  ): { started(): void; ended(): void } {
    const name = kindName(kind);
    const entry = this.#entries.get(name) ?? { kind, servers: new Map(), bytes: null };
    this.#entries.set(name, entry);
    const key = callerId === null ? label : `${label} ${callerId}`;
    const server = entry.servers.get(key) ?? { label, deploymentId, lastUsedAt: at, running: 0 };
    server.deploymentId = deploymentId;
    server.lastUsedAt = Math.max(server.lastUsedAt, at);
    entry.servers.set(key, server);
    // A server has one kind at a time: a push may have changed its dependency layer.
    for (const [other, { kind: its, servers }] of this.#entries)
      if (other !== name && its.organizationId === kind.organizationId)
        for (const [each, { label: of }] of servers) if (of === label) servers.delete(each);
    this.#forget();
    return {
      started() {
        server.running += 1;
      },
      ended() {
        server.running -= 1;
        server.lastUsedAt = Date.now();
      },
    };
  }

  deploymentIds(): string[] {
    return [...this.#entries.values()].flatMap(({ servers }) => [...servers.values()].map((each) => each.deploymentId));
  }

  /** Their servers need nothing any more. */
  forget(deploymentIds: readonly string[]): void {
    for (const { servers } of this.#entries.values())
      for (const [key, { deploymentId }] of servers) if (deploymentIds.includes(deploymentId)) servers.delete(key);
    this.#forget();
  }

  measured(name: string, bytes: number): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined) entry.bytes = bytes;
  }

  kind(name: string): Kind | undefined {
    return this.#entries.get(name)?.kind;
  }

  /** `assumedBytes`: the memory of one that has not been measured. */
  demands(assumedBytes: number): Demand[] {
    this.#forget();
    return [...this.#entries].map(([kind, entry]) => ({
      kind,
      organizationId: entry.kind.organizationId,
      idleServers: [...entry.servers.values()].filter(({ running }) => running === 0).length,
      lastUsedAt: lastUseOf(entry),
      bytes: entry.bytes ?? assumedBytes,
    }));
  }

  #forget(): void {
    const since = Date.now() - this.#forgetAfterMs;
    for (const [name, { servers }] of this.#entries) {
      for (const [key, { running, lastUsedAt }] of servers)
        if (running === 0 && lastUsedAt < since) servers.delete(key);
      if (servers.size === 0) this.#entries.delete(name);
    }
    if (this.#entries.size <= maxKinds) return;
    const oldest = [...this.#entries].sort(([, a], [, b]) => lastUseOf(a) - lastUseOf(b))[0];
    if (oldest !== undefined) this.#entries.delete(oldest[0]);
  }
}

const lastUseOf = ({ servers }: Entry) => Math.max(0, ...[...servers.values()].map(({ lastUsedAt }) => lastUsedAt));
