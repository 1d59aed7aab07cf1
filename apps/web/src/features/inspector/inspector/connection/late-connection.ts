import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { type CallResult, canceledCode, type ServerCall } from "../server-call.ts";
import type { CallHandlers, ConnectionState, ServerConnection } from "./server-connection.ts";

type Place = {
  readonly projectKey: ProjectKey;
  /** Null: production. */
  readonly branchId: string | null;
  readonly authorization: () => string | null;
};

const closed: ConnectionState = { status: "closed", protocolVersion: null, messages: [] };
const load = () => import("./server-connection.ts");

/** Loads what a call needs ahead of the first one, which reports a failure. */
export const preloadConnection = (): void =>
  void load().then(
    ({ preloadLibrary }) => preloadLibrary(),
    () => {},
  );

/** A `ServerConnection` whose code is loaded with its first call. */
export class LateConnection {
  readonly #place: Place;
  readonly #listeners = new Set<() => void>();
  #connection: ServerConnection | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  readonly state = (): ConnectionState => this.#connection?.state() ?? closed;

  /** Makes one call. Never rejects: failures are results. */
  async perform(call: ServerCall, handlers: CallHandlers, canceled: AbortSignal): Promise<CallResult> {
    const connection = await this.#loaded().catch(() => null);
    if (connection && !canceled.aborted) return connection.perform(call, handlers, canceled);
    const failed = (code: string, message: string) => ({ ok: false, code, rpcCode: null, message }) as const;
    return canceled.aborted
      ? failed(canceledCode, "You canceled the call.")
      : failed("failed", "The page couldn't make the call. Check your connection and try again.");
  }

  /** The server's suggestions for an argument; none without a connection, as typing doesn't open one. */
  async complete(...asked: Parameters<ServerConnection["complete"]>): Promise<readonly string[]> {
    return (await this.#connection?.complete(...asked)) ?? [];
  }

  /** Connects without a call, for completions. */
  async open(): Promise<void> {
    await (await this.#loaded()).open();
  }

  /** Ends the session. The next call reconnects. */
  async close(): Promise<void> {
    await this.#connection?.close();
  }

  closeWhenIdle(): void {
    this.#connection?.closeWhenIdle();
  }

  clearMessages(): void {
    this.#connection?.clearMessages();
  }

  async #loaded(): Promise<ServerConnection> {
    const { ServerConnection: Connection, relayUrl } = await load();
    if (this.#connection) return this.#connection;
    const { projectKey, branchId, authorization } = this.#place;
    const connection = new Connection({ url: relayUrl(projectKey, branchId), authorization });
    connection.subscribe(() => {
      for (const listener of this.#listeners) listener();
    });
    this.#connection = connection;
    return connection;
  }
}
