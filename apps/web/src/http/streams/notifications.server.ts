import pg from "pg";
import type { Logger } from "pino";

/** Wakes whoever waits for a `NOTIFY channel, payload` of the database. */
export type Notifications = {
  /** Returns the way to stop. `wake` also runs after a lost connection is back: something may have been missed. */
  subscribe(channel: string, payload: string, wake: () => void): () => void;
  close(): Promise<void>;
};

const reconnectMs = 1000;

/** All subscribers share one connection, which is opened for the first of them. */
export function listenForNotifications(databaseUrl: string, channels: readonly string[], log: Logger): Notifications {
  const waiting = new Map<string, Set<() => void>>();
  let client: pg.Client | undefined;
  let connecting = false;
  let closed = false;

  const wakeAll = () => {
    for (const wakes of waiting.values()) for (const wake of wakes) wake();
  };

  async function connect(): Promise<void> {
    if (closed || client || connecting) return;
    connecting = true;
    const fresh = new pg.Client({ connectionString: databaseUrl, application_name: "towpath-web-listen" });
    fresh.on("notification", ({ channel, payload }) => {
      for (const wake of waiting.get(`${channel} ${payload ?? ""}`) ?? []) wake();
    });
    const lost = (error?: Error) => {
      if (client !== fresh) return;
      client = undefined;
      if (closed) return;
      log.warn({ err: error }, "lost the connection that listens for log lines");
      setTimeout(() => void connect(), reconnectMs).unref();
    };
    fresh.on("error", lost);
    fresh.on("end", () => lost());
    try {
      await fresh.connect();
      for (const channel of channels) await fresh.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      client = fresh;
      connecting = false;
      wakeAll();
    } catch (error) {
      connecting = false;
      await fresh.end().catch(() => {});
      log.warn({ err: error }, "cannot listen for log lines yet");
      if (!closed) setTimeout(() => void connect(), reconnectMs).unref();
    }
  }

  return {
    subscribe(channel, payload, wake) {
      const key = `${channel} ${payload}`;
      const wakes = waiting.get(key) ?? new Set();
      waiting.set(key, wakes.add(wake));
      void connect();
      return () => {
        wakes.delete(wake);
        if (wakes.size === 0) waiting.delete(key);
      };
    },
    async close() {
      closed = true;
      const open = client;
      client = undefined;
      await open?.end().catch(() => {});
    },
  };
}
