import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { Agent } from "undici";
import { otlpJson, type SpanData } from "./otlp.ts";
import type { OtlpSettings } from "./otlp-settings.ts";

const flushMs = 1000;
/** A batch takes about a millisecond to serialize. */
const batchSpans = 128;
const maxQueuedSpans = 4096;
const requestMs = 10_000;
const firstPauseMs = 1000;
const maxPauseMs = 30_000;

type Parts<Ended> = {
  readonly settings: OtlpSettings;
  readonly log: Logger;
  /** Of the process: `web`, `gateway`, `worker` or `runner`. */
  readonly role: string;
  /** This process's share of the queue. */
  readonly share?: number;
  /** Its number among those that share a port. */
  readonly worker?: number;
  /** The span of what has ended, made when it is sent. */
  readonly spanOf: (ended: Ended) => SpanData;
};

/** For spans as they are; null without a collector. */
export function openExporter(role: string, settings: OtlpSettings | null, log: Logger): SpanExporter<SpanData> | null {
  return settings && new SpanExporter({ settings, log, role, spanOf: (span: SpanData) => span });
}

/**
 * Sends spans to an OpenTelemetry collector (OTLP/HTTP, JSON), off the path of requests. While the collector is
 * unavailable they wait in a bounded queue; spans that don't fit and spans that it refuses are dropped and counted.
 */
export class SpanExporter<Ended> {
  /** Counts since the start. */
  readonly counters = { exported: 0, dropped: 0 };
  readonly #settings: OtlpSettings;
  readonly #spanOf: (ended: Ended) => SpanData;
  readonly #scope: string;
  readonly #resource: Readonly<Record<string, string>>;
  readonly #log: Logger;
  readonly #maxQueued: number;
  // Its own connections: the collector must not use those of servers.
  readonly #agent = new Agent({ connections: 1, headersTimeout: requestMs, bodyTimeout: requestMs });
  readonly #stopped = new AbortController();
  #queue: Ended[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;
  #isFailing = false;

  constructor({ settings, log, role, share = 1, worker = 0, spanOf }: Parts<Ended>) {
    this.#settings = settings;
    this.#log = log;
    this.#spanOf = spanOf;
    this.#maxQueued = Math.max(batchSpans, Math.floor(maxQueuedSpans * share));
    this.#scope = `towpath.${role}`;
    this.#resource = { "service.name": `towpath-${role}`, "service.instance.id": `${process.pid}-${worker}` };
  }

  /** Spans that wait. */
  get queued(): number {
    return this.#queue.length;
  }

  push(span: Ended): void {
    if (this.#queue.length >= this.#maxQueued) {
      this.counters.dropped++;
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= batchSpans && !this.#isFailing) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref();
  }

  /** Sends the queue, for at most `withinMs`, and closes the connection. */
  async stop(withinMs: number): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#isFailing) this.#flush();
    const timer = setTimeout(() => this.#stopped.abort(), this.#isFailing ? 0 : withinMs);
    await this.#sending;
    clearTimeout(timer);
    this.counters.dropped += this.#queue.length;
    await this.#agent.destroy();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  async #send(): Promise<void> {
    let pauseMs = firstPauseMs;
    while (this.#queue.length > 0 && !this.#stopped.signal.aborted) {
      // They stay in the queue until they are exported: it alone limits the memory.
      const batch = this.#queue.slice(0, batchSpans);
      const outcome = await this.#post(batch);
      if (outcome === "retryable") {
        await sleep(pauseMs, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
        continue;
      }
      pauseMs = firstPauseMs;
      this.#queue = this.#queue.slice(batch.length);
      this.counters[outcome] += batch.length;
    }
  }

  /** "retryable": as in the OTLP specification, "Retryable Response Codes". */
  async #post(batch: readonly Ended[]): Promise<"exported" | "dropped" | "retryable"> {
    const { url, headers } = this.#settings;
    try {
      const { statusCode, body } = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: otlpJson({ spans: batch.map(this.#spanOf), resource: this.#resource, scope: this.#scope }),
        signal: this.#stopped.signal,
      });
      await body.dump();
      if (statusCode < 300) {
        this.#report(null);
        return "exported";
      }
      this.#report(`it answered with HTTP ${statusCode}`);
      return statusCode === 429 || (statusCode >= 502 && statusCode <= 504) ? "retryable" : "dropped";
    } catch (error) {
      this.#report(error instanceof Error ? error.message : String(error));
      return "retryable";
    }
  }

  /** Logs a change only, and never the headers, which hold credentials. */
  #report(problem: string | null): void {
    if ((problem !== null) === this.#isFailing || this.#stopped.signal.aborted) return;
    this.#isFailing = problem !== null;
    const { origin } = this.#settings.url;
    if (problem === null) this.#log.info({ collector: origin }, "spans are exported again");
    else this.#log.warn({ collector: origin, problem }, "spans cannot be exported; nothing else is affected");
  }
}
