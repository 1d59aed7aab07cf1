import type { ServerResponse } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";

export type ConnectionLimits = {
  /** Connections at a time. */
  maxConnections: number;
  /** Of one client address. Loopback and proxies are exempt: they stand for many clients. */
  maxConnectionsPerAddress: number;
  proxies: BlockList;
};

/** Number of idle connections closed at a time when the limit is reached. */
const maxEvictions = 16;
const searchPauseMs = 50;

/**
 * Limits the gateway's connections (GW-9). At the limit, a new connection replaces the oldest ones that have not sent a
 * request, then those idle between requests. It is refused only when all others are in use.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Connections by age, with their last response; null before the first request. */
  readonly #open = new Map<Socket, ServerResponse | null>();
  readonly #silent = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  /** No search for idle connections before this performance.now(). */
  #searchFrom = 0;
  refused = 0;
  evicted = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Takes a new connection, or destroys it. */
  accept(socket: Socket): void {
    const address = this.#limitedAddress(socket);
    const ofAddress = address === null ? 0 : (this.#perAddress.get(address) ?? 0);
    // Check the address first: one that is at its limit must not evict other clients' connections.
    if (ofAddress >= this.#limits.maxConnectionsPerAddress || !this.#hasRoom()) {
      this.refused++;
      socket.destroy();
      return;
    }
    this.#open.set(socket, null);
    this.#silent.add(socket);
    if (address !== null) this.#perAddress.set(address, ofAddress + 1);
    socket.once("close", () => {
      this.#forget(socket);
      if (address !== null) this.#releaseAddress(address);
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
    const now = performance.now();
    if (this.#silent.size === 0 && now < this.#searchFrom) return false;
    this.#evict();
    if (this.#open.size < maxConnections) return true;
    this.#searchFrom = now + searchPauseMs;
    return false;
  }

  #evict(): void {
    let left = maxEvictions;
    const evict = (socket: Socket) => {
      this.#forget(socket);
      socket.destroy();
      this.evicted++;
      left--;
    };
    for (const socket of this.#silent) {
      if (left === 0) return;
      evict(socket);
    }
    if (left < maxEvictions) return;
    for (const [socket, response] of this.#open) {
      if (left === 0) return;
      if (response?.writableFinished) evict(socket);
    }
  }

  #releaseAddress(address: string): void {
    const count = (this.#perAddress.get(address) ?? 0) - 1;
    if (count > 0) this.#perAddress.set(address, count);
    else this.#perAddress.delete(address);
  }

  #limitedAddress({ remoteAddress }: Socket): string | null {
    if (remoteAddress === undefined) return null;
    const address = plainAddress(remoteAddress);
    return isLoopback(address) || isListed(this.#limits.proxies, address) ? null : address;
  }
}

/** Strips the prefix of IPv4-mapped IPv6 addresses. */
export function plainAddress(address: string): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}

export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

export function isListed(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
}

/**
 * Addresses and networks (`10.0.0.1, fd00::/8`) as a list.
 *
 * @throws Error that names the first one that is neither
 */
export function parseAddresses(text: string): BlockList {
  const list = new BlockList();
  for (const entry of text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)) {
    const [, address = "", prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const version = isIP(address);
    const bits = version === 4 ? 32 : 128;
    const prefixBits = prefix === undefined ? bits : Number(prefix);
    if (version === 0 || prefixBits > bits) {
      throw new Error(`${entry} is neither an address nor a network such as 10.0.0.0/8`);
    }
    list.addSubnet(address, prefixBits, version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
