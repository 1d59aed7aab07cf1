import type { Notifications } from "@towpath/db/notifications";
import type { Pool } from "pg";
import { z } from "zod";
import { type News, newsSchema } from "./news.ts";

/** How often a gateway announces itself, and after how long a silence it counts as gone. */
const helloMs = 10_000;
const goneMs = 35_000;

const channel = "towpath_gateways";
/** PostgreSQL takes payloads of less than 8000 bytes. */
const maxPayload = 7500;
const messageSchema = z.object({ from: z.string(), news: z.array(newsSchema) });

type Parts = {
  pool: Pool;
  notifications: Notifications;
  /** The same in all workers of a gateway, which exchange messages without the database. */
  gatewayId: string;
  /** One worker announces the gateway for all. */
  speaksForGateway: boolean;
};

/**
 * The other gateways of an instance, which may share only the database with this one: they send each other
 * notifications through it. Nothing is sent without receivers. While the database is unavailable, gateways don't reach
 * each other.
 */
export class OtherGateways {
  readonly #parts: Parts;
  /** performance.now() of the last message of each. */
  readonly #lastMessageAt = new Map<string, number>();
  /** News for the next query, and its promise. One query runs at a time. */
  #waiting: News[] = [];
  #next: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Gateways that sent a message lately. */
  get count(): number {
    return this.#lastMessageAt.size;
  }

  start(onNews: (news: News) => void): void {
    const { notifications } = this.#parts;
    notifications.subscribe({ channel }, (payload) => this.#receive(payload, onNews));
    this.#timer = setInterval(() => this.#sayHello(), helloMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Resolves once the database has sent the news, or is unavailable. */
  announce(news: News): Promise<void> {
    this.#waiting.push(news);
    this.#next ??= this.#running.then(() => {
      const payloads = this.#waiting.map((each) => this.#payloadOf([each]));
      this.#waiting = [];
      this.#next = null;
      this.#running = this.#notify(payloads);
      return this.#running;
    });
    return this.#next;
  }

  #payloadOf(news: readonly News[]): string {
    return JSON.stringify({ from: this.#parts.gatewayId, news });
  }

  #sayHello(): void {
    const now = performance.now();
    for (const [id, at] of this.#lastMessageAt) if (now - at > goneMs) this.#lastMessageAt.delete(id);
    if (this.#parts.speaksForGateway) void this.#notify([this.#payloadOf([])]);
  }

  /** `payload` is undefined after each connect: other gateways may have started meanwhile, and don't know this one. */
  #receive(payload: string | undefined, onNews: (news: News) => void): void {
    if (payload === undefined) this.#sayHello();
    const message = payload === undefined ? null : parseMessage(payload);
    if (message === null || message.from === this.#parts.gatewayId) return;
    const isNew = !this.#lastMessageAt.has(message.from);
    this.#lastMessageAt.set(message.from, performance.now());
    if (isNew) this.#sayHello();
    for (const news of message.news) onNews(news);
  }

  /** Without waiting for the disk: a crash loses only what would expire in a moment. */
  async #notify(payloads: readonly string[]): Promise<void> {
    const sql = `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${channel}', payload)
      FROM unnest($1::text[]) AS payload`;
    // Clients choose the ids of their requests: what doesn't fit is dropped.
    const fitting = payloads.filter((payload) => Buffer.byteLength(payload) <= maxPayload);
    await this.#parts.pool.query(sql, [fitting]).catch(() => {});
  }
}

function parseMessage(payload: string): z.infer<typeof messageSchema> | null {
  try {
    return messageSchema.safeParse(JSON.parse(payload)).data ?? null;
  } catch {
    return null;
  }
}
