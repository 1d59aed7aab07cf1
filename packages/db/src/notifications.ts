import pg from "pg";

/** A channel, or only one payload on it. */
type Topic = { readonly channel: string; readonly payload?: string };

/** Wakes subscribers when the database notifies (`NOTIFY channel, payload`). */
export type Notifications = {
  /**
   * Calls `onNotify` with the payload of each notification of the topic, and without one after each connect, including
   * the first: notifications may have been missed before, so read the data again. Returns a function that unsubscribes.
   */
  subscribe(topic: Topic, onNotify: (payload?: string) => void): () => void;
  close(): Promise<void>;
};

type NotificationOptions = {
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Called when connecting fails or the connection is lost. It reconnects until `close`. */
  readonly onProblem: (error: unknown) => void;
  /** Milliseconds between health checks of the connection. */
  readonly pingMs?: number;
};

const reconnectMs = 1000;
const timeoutMs = 5000;

/**
 * All subscribers share one connection, opened for the first of them. `url` must lead to the database itself: poolers
 * in transaction mode don't deliver notifications.
 */
export function openNotifications(url: string, options: NotificationOptions): Notifications {
  return new PgNotifications(url, options);
}

class PgNotifications implements Notifications {
  readonly #url: string;
  readonly #options: NotificationOptions;
  readonly #subscribers = new Map<string, Set<(payload?: string) => void>>();
  readonly #channels = new Set<string>();
  #client: pg.Client | null = null;
  #isConnected = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: string, options: NotificationOptions) {
    this.#url = url;
    this.#options = options;
  }

  subscribe({ channel, payload }: Topic, onNotify: (payload?: string) => void): () => void {
    const key = keyOf(channel, payload);
    const subscribers = this.#subscribers.get(key) ?? new Set();
    // Wrapped, because the same function may subscribe twice.
    const wake = (notified?: string) => onNotify(notified);
    this.#subscribers.set(key, subscribers.add(wake));
    if (!this.#channels.has(channel)) {
      this.#channels.add(channel);
      if (this.#client && this.#isConnected)
        void this.#listen(this.#client, channel).then(
          () => wake(),
          () => {},
        );
    }
    if (!this.#client && this.#timer === undefined && !this.#isClosed) void this.#connect();
    return () => {
      subscribers.delete(wake);
      if (subscribers.size === 0 && this.#subscribers.get(key) === subscribers) this.#subscribers.delete(key);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
    });
    this.#client = client;
    client.on("error", (error) => this.#disconnected(client, error));
    client.on("end", () => this.#disconnected(client, new Error("the connection ended")));
    client.on("notification", ({ channel, payload = "" }) => {
      this.#wake(keyOf(channel, undefined), payload);
      this.#wake(keyOf(channel, payload), payload);
    });
    try {
      await client.connect();
      // The loop includes channels that are added while it runs.
      for (const channel of this.#channels) await this.#listen(client, channel);
    } catch (error) {
      return this.#disconnected(client, error);
    }
    if (this.#client !== client) return;
    this.#isConnected = true;
    for (const key of [...this.#subscribers.keys()]) this.#wake(key);
    this.#schedulePing(client);
  }

  async #listen(client: pg.Client, channel: string): Promise<void> {
    await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
  }

  #wake(key: string, payload?: string): void {
    for (const wake of [...(this.#subscribers.get(key) ?? [])]) wake(payload);
  }

  /** Detects a connection that was cut silently, which otherwise looks idle. */
  #schedulePing(client: pg.Client): void {
    const ping = () =>
      client.query("SELECT 1").then(
        () => this.#client === client && this.#schedulePing(client),
        (error: unknown) => this.#disconnected(client, error),
      );
    this.#timer = setTimeout(() => void ping(), this.#options.pingMs ?? 30_000).unref();
  }

  #disconnected(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#isConnected = false;
    void client.end().catch(() => {});
    if (this.#isClosed) return;
    this.#options.onProblem(error);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#connect();
    }, reconnectMs).unref();
  }
}

const keyOf = (channel: string, payload: string | undefined) =>
  payload === undefined ? channel : `${channel} ${payload}`;
