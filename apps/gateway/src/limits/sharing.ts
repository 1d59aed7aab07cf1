import type { Notifications } from "@towpath/db/notifications";
import type { Pool } from "pg";
import { z } from "zod";
import type { Peers } from "../workers/peers.ts";
import type { Entry } from "./entries.ts";
import { type Taken, takenSchema } from "./taken.schema.ts";

/** How often processes tell what they let in: the workers of this gateway, and the other gateways. */
const tellPeersMs = 50;
const tellGatewaysMs = 250;
/** How often a gateway says that it is there, and after which silence it is taken to be gone. */
const helloMs = 10_000;
const goneMs = 35_000;

const channel = "towpath_calls";
/** PostgreSQL takes payloads of less than 8000 bytes. */
const maxPayload = 7500;
const messageSchema = z.object({ from: z.string(), taken: takenSchema });

/**
 * Lets the processes of all gateways know what each has let in: workers of one gateway through their primary, gateways
 * by notifications of the database, neither on the path of a call. Nothing is sent where nobody would hear it. Without
 * the database, gateways don't hear of one another, and each lets in what the limits say.
 */
export class Sharing {
  readonly #parts: Parts;
  readonly #untold: Entry[] = [];
  readonly #forGateways = new Map<string, number>();
  /** Other gateways, with the performance.now() at which they were heard last. */
  readonly #gateways = new Map<string, number>();
  #timers: NodeJS.Timeout[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Other gateways that were heard of lately. */
  get gateways(): number {
    return this.#gateways.size;
  }

  taken(entry: Entry, takenMs: number): void {
    if (this.#parts.peers.count === 0 && this.#gateways.size === 0) return;
    if (entry.untoldMs === 0) this.#untold.push(entry);
    entry.untoldMs += takenMs;
  }

  start(): void {
    const { peers, notifications, onTaken } = this.#parts;
    peers.onTold((taken) => tellAll(taken, onTaken));
    notifications.subscribe({ channel }, (payload) => this.#heard(payload));
    const every = (ms: number, work: () => void) => this.#timers.push(setInterval(work, ms).unref());
    every(tellPeersMs, () => this.#tellPeers());
    every(tellGatewaysMs, () => this.#tellGateways());
    every(helloMs, () => this.#sayHello());
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  #tellPeers(): void {
    if (this.#untold.length === 0) return;
    const taken: Taken[] = [];
    for (const entry of this.#untold) {
      taken.push([entry.name, entry.untoldMs]);
      if (this.#gateways.size > 0) {
        this.#forGateways.set(entry.name, (this.#forGateways.get(entry.name) ?? 0) + entry.untoldMs);
      }
      entry.untoldMs = 0;
    }
    this.#untold.length = 0;
    if (this.#parts.peers.count > 0) this.#parts.peers.tell(taken);
  }

  #tellGateways(): void {
    if (this.#forGateways.size === 0) return;
    const payloads = this.#payloadsOf([...this.#forGateways]);
    this.#forGateways.clear();
    this.#notify(payloads);
  }

  #payloadsOf(taken: readonly Taken[]): string[] {
    const payloads: string[] = [];
    let part: Taken[] = [];
    let size = 0;
    const end = () => {
      payloads.push(JSON.stringify({ from: this.#parts.gatewayId, taken: part }));
      part = [];
      size = 0;
    };
    for (const [name, takenMs] of taken) {
      // Names are ASCII; a number has up to 20 characters.
      const length = name.length + 28;
      if (size + length > maxPayload - 100) end();
      part.push([name, Math.ceil(takenMs)]);
      size += length;
    }
    if (part.length > 0) end();
    return payloads;
  }

  #sayHello(): void {
    const now = performance.now();
    for (const [id, heardAt] of this.#gateways) if (now - heardAt > goneMs) this.#gateways.delete(id);
    if (this.#parts.speaksForGateway) this.#notify([JSON.stringify({ from: this.#parts.gatewayId, taken: [] })]);
  }

  /** `payload` is undefined after each connect: others may have come meanwhile, and don't know of this gateway. */
  #heard(payload: string | undefined): void {
    if (payload === undefined) {
      this.#sayHello();
      return;
    }
    const message = parseMessage(payload);
    if (message === null || message.from === this.#parts.gatewayId) return;
    const isNew = !this.#gateways.has(message.from);
    this.#gateways.set(message.from, performance.now());
    if (isNew) this.#sayHello();
    tellAll(message.taken, this.#parts.onTaken);
  }

  /** Not written to disk before it is answered: what is lost with a crash counts for a moment only. */
  #notify(payloads: readonly string[]): void {
    this.#parts.pool
      .query(
        `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${channel}', payload)
         FROM unnest($1::text[]) AS payload`,
        [payloads],
      )
      .catch(() => {});
  }
}

type Parts = {
  peers: Peers;
  pool: Pool;
  notifications: Notifications;
  /** The same in all workers of a gateway, which hear of one another without the database. */
  gatewayId: string;
  /** One worker says for all that the gateway is there. */
  speaksForGateway: boolean;
  onTaken: (name: string, takenMs: number) => void;
};

function tellAll(taken: readonly Taken[], onTaken: Parts["onTaken"]): void {
  for (const [name, takenMs] of taken) onTaken(name, takenMs);
}

function parseMessage(payload: string): z.infer<typeof messageSchema> | null {
  try {
    return messageSchema.safeParse(JSON.parse(payload)).data ?? null;
  } catch {
    return null;
  }
}
