import type { Taken } from "../workers/news.ts";
import type { OtherGateways } from "../workers/other-gateways.ts";
import type { Peers } from "../workers/peers.ts";
import type { Entry } from "./limits.ts";

/** How often processes share what they let in, with the workers of this gateway and with the other gateways. */
const sendPeersMs = 50;
const sendGatewaysMs = 250;
/** As many fit into one notification, even with the longest names. */
const maxPerMessage = 20;

/**
 * Shares between the processes of all gateways what each has let in: workers of one gateway through their primary,
 * gateways through the database, neither on the path of a call. Without the database, each gateway is on its own.
 */
export class Sharing {
  readonly #peers: Peers;
  readonly #gateways: OtherGateways;
  readonly #unsent: Entry[] = [];
  readonly #forGateways = new Map<string, number>();
  #timers: NodeJS.Timeout[] = [];

  constructor({ peers, gateways }: { peers: Peers; gateways: OtherGateways }) {
    this.#peers = peers;
    this.#gateways = gateways;
  }

  taken(entry: Entry, takenMs: number): void {
    if (this.#peers.count === 0 && this.#gateways.count === 0) return;
    if (entry.unsentMs === 0) this.#unsent.push(entry);
    entry.unsentMs += takenMs;
  }

  start(): void {
    const every = (ms: number, work: () => void) => this.#timers.push(setInterval(work, ms).unref());
    every(sendPeersMs, () => this.#sendPeers());
    every(sendGatewaysMs, () => this.#sendGateways());
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  #sendPeers(): void {
    if (this.#unsent.length === 0) return;
    const taken: Taken[] = [];
    for (const entry of this.#unsent) {
      taken.push([entry.name, entry.unsentMs]);
      if (this.#gateways.count > 0) {
        this.#forGateways.set(entry.name, (this.#forGateways.get(entry.name) ?? 0) + entry.unsentMs);
      }
      entry.unsentMs = 0;
    }
    this.#unsent.length = 0;
    if (this.#peers.count > 0) this.#peers.send({ kind: "taken", taken });
  }

  #sendGateways(): void {
    const all = [...this.#forGateways].map(([name, takenMs]): Taken => [name, Math.ceil(takenMs)]);
    this.#forGateways.clear();
    while (all.length > 0) void this.#gateways.announce({ kind: "taken", taken: all.splice(0, maxPerMessage) });
  }
}
