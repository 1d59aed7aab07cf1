import type { ServerResponse } from "node:http";
import type { BlockList, Socket } from "node:net";
import { isListed, isLoopbackAddress } from "@towpath/egress";
import { Bucket, networkOf, plainAddress, type Rate } from "@towpath/limits";
import { refuseConnection } from "../wire/parser-errors.ts";

export type ConnectionLimits = {
  /** Connections at a time. */
  maxConnections: number;
  /** Per client network (see `networkOf`). Loopback and proxies are exempt: they represent many clients. */
  maxConnectionsPerAddress: number;
  /** Of these, connections without an open request. */
  maxIdlePerAddress: number;
  /** New connections per network; null: no limit. */
  newPerAddress: Rate | null;
  proxies: BlockList;
};

/** Number of idle connections closed at a time when the limit is reached. */
const maxEvictions = 16;
const searchPauseMs = 50;
const pruneMs = 10_000;

/** The connections of one network, oldest first, and its bucket for new ones. */
type Network = { readonly sockets: Set<Socket>; readonly bucket: Bucket };

/**
 * Limits the gateway's connections (GW-9). At the limit, a new connection replaces the oldest ones that have not sent a
 * request, then those idle between requests. It is refused only if all others are in use. A network at its own limit
 * replaces only its own idle connections.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #now: () => number;
  /** Connections by age, with their last response; null before the first request. */
  readonly #open = new Map<Socket, ServerResponse | null>();
  readonly #silent = new Set<Socket>();
  readonly #networks = new Map<string, Network>();
  /** No search for idle connections before this performance.now(). */
  #searchFrom = 0;
  #pruneFrom = 0;
  refused = 0;
  evicted = 0;

  constructor(limits: ConnectionLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Accepts or refuses a new connection. */
  accept(socket: Socket): void {
    const network = this.#limitedNetwork(socket);
    // Check the network first: one that is at its limit must not evict other clients' connections.
    if (network !== null && !this.#hasShareLeft(network)) {
      this.refused++;
      refuseConnection(socket);
      return;
    }
    if (!this.#hasRoom()) {
      this.refused++;
      socket.destroy();
      return;
    }
    this.#open.set(socket, null);
    this.#silent.add(socket);
    network?.sockets.add(socket);
    socket.once("close", () => {
      this.#forget(socket);
      network?.sockets.delete(socket);
    });
  }

  /** A request has come on the connection. */
  requestStarted(socket: Socket, response: ServerResponse): void {
    if (!this.#open.has(socket)) return;
    this.#open.set(socket, response);
    this.#silent.delete(socket);
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket);
    this.#silent.delete(socket);
  }

  /** Makes room if needed. After an unsuccessful search, the next one waits: each scans all connections. */
  #hasRoom(): boolean {
    const { maxConnections } = this.#limits;
    if (this.#open.size < maxConnections) return true;
    const now = this.#now();
    if (this.#silent.size === 0 && now < this.#searchFrom) return false;
    this.#makeRoom();
    if (this.#open.size < maxConnections) return true;
    this.#searchFrom = now + searchPauseMs;
    return false;
  }

  #makeRoom(): void {
    const silent = [...this.#silent].slice(0, maxEvictions);
    for (const socket of silent) this.#evict(socket);
    if (silent.length > 0) return;
    let left = maxEvictions;
    for (const [socket, response] of this.#open) {
      if (left === 0) return;
      if (!response?.writableFinished) continue;
      this.#evict(socket);
      left--;
    }
  }

  #evict(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
    this.evicted++;
  }

  /** Whether a network may have one more connection, if need be in place of its own idle ones. */
  #hasShareLeft({ sockets, bucket }: Network): boolean {
    const { maxConnectionsPerAddress, maxIdlePerAddress, newPerAddress } = this.#limits;
    const now = this.#now();
    if (newPerAddress !== null) {
      if (bucket.waitFor(1, newPerAddress, now) > 0) return false;
      bucket.take(1, newPerAddress, now);
    }
    if (sockets.size < Math.min(maxConnectionsPerAddress, maxIdlePerAddress)) return true;
    const idle = [...sockets].filter((socket) => this.#isIdle(socket));
    // The new connection is idle too, until its request arrives.
    const surplus = Math.max(idle.length + 1 - maxIdlePerAddress, sockets.size + 1 - maxConnectionsPerAddress);
    for (const socket of idle.slice(0, Math.max(0, surplus))) {
      sockets.delete(socket);
      this.#evict(socket);
    }
    return sockets.size < maxConnectionsPerAddress;
  }

  #isIdle(socket: Socket): boolean {
    const response = this.#open.get(socket);
    return response == null || response.writableFinished;
  }

  #limitedNetwork({ remoteAddress }: Socket): Network | null {
    if (remoteAddress === undefined) return null;
    const address = plainAddress(remoteAddress);
    if (isLoopbackAddress(address) || isListed(this.#limits.proxies, address)) return null;
    const name = networkOf(address);
    this.#prune();
    const known = this.#networks.get(name) ?? { sockets: new Set(), bucket: new Bucket() };
    this.#networks.set(name, known);
    return known;
  }

  #prune(): void {
    const now = this.#now();
    if (now < this.#pruneFrom) return;
    this.#pruneFrom = now + pruneMs;
    for (const [name, { sockets, bucket }] of this.#networks) {
      if (sockets.size === 0 && bucket.fullAt <= now) this.#networks.delete(name);
    }
  }
}
