import pg from "pg";
import type { Logger } from "pino";

const retryMs = 1000;

export type Listener = { start: () => void; stop: () => Promise<void> };

/**
 * Listens to channels of the database on a connection of its own, for good. `onConnect` is called after every
 * (re)connection: notifications may have been missed before it.
 */
export function createListener(parts: {
  databaseUrl: string;
  channels: Readonly<Record<string, (payload: string) => void>>;
  onConnect: () => void;
  log: Logger;
}): Listener {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const retry = (lost: pg.Client) => {
    if (stopped || client !== lost) return;
    client = null;
    void lost.end().catch(() => {});
    timer = setTimeout(() => void connect(), retryMs);
  };

  const connect = async () => {
    const current = new pg.Client({
      connectionString: parts.databaseUrl,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      application_name: "towpath-gateway-listener",
    });
    client = current;
    current.on("error", () => retry(current));
    current.on("end", () => retry(current));
    current.on("notification", (message) => parts.channels[message.channel]?.(message.payload ?? ""));
    try {
      await current.connect();
      for (const channel of Object.keys(parts.channels)) await current.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      parts.onConnect();
    } catch (error) {
      parts.log.debug({ err: error }, "cannot listen to the database yet");
      retry(current);
    }
  };

  return {
    start: () => void connect(),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
