import type { CallResponse } from "../call/states.ts";

/** Proxies close connections that are silent for long; servers of the SDKs ping as often. */
const defaultPingMs = 15_000;
const ping = ": asleep\n\n";

/**
 * Streams for unsolicited messages, of sessions whose server is asleep (GW-12). A sleeping server sends nothing, so a
 * stream is held here until a request of its session wakes the server, or its client disconnects.
 */
export class HeldStreams {
  /** By session. */
  readonly #held = new Map<string, Set<() => void>>();
  readonly #pingMs: number;

  constructor({ pingMs = defaultPingMs }: { pingMs?: number } = {}) {
    this.#pingMs = pingMs;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Resolves to true when the session's server is needed, where the stream then goes; false: the client is gone. */
  hold(session: string, response: CallResponse): Promise<boolean> {
    if (response.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const streams = this.#held.get(session) ?? new Set();
      this.#held.set(session, streams);
      const timer = setInterval(() => response.write(ping), this.#pingMs);
      timer.unref();
      const end = (isNeeded: boolean) => {
        clearInterval(timer);
        response.off("close", onClose);
        streams.delete(onNeeded);
        if (streams.size === 0 && this.#held.get(session) === streams) this.#held.delete(session);
        resolve(isNeeded);
      };
      const onClose = () => end(false);
      const onNeeded = () => end(true);
      response.once("close", onClose);
      streams.add(onNeeded);
    });
  }

  /** A request of the session goes to its server: its streams follow. */
  release(session: string): void {
    for (const onNeeded of [...(this.#held.get(session) ?? [])]) onNeeded();
  }
}
