import type { Exchange } from "./exchange.ts";

/**
 * The legacy requests that this gateway is passing, by session and JSON-RPC id: a legacy client cancels by a message
 * of its own, and the row of the canceled request must say so.
 */
export class InFlight {
  readonly #exchanges = new Map<string, Exchange>();

  enter(exchange: Exchange): void {
    for (const key of keysOf(exchange)) this.#exchanges.set(key, exchange);
    const { session, peek } = exchange;
    for (const { cancels } of peek.messages) {
      if (session !== null && cancels !== null) this.#exchanges.get(keyOf(session, cancels))?.canceled.add(cancels);
    }
  }

  leave(exchange: Exchange): void {
    for (const key of keysOf(exchange)) if (this.#exchanges.get(key) === exchange) this.#exchanges.delete(key);
  }
}

function keysOf({ session, peek }: Exchange): string[] {
  if (session === null) return [];
  return peek.messages.flatMap(({ kind, id }) => (kind === "request" && id !== null ? [keyOf(session, id)] : []));
}

function keyOf(session: string, id: string | number): string {
  return `${session} ${typeof id} ${id}`;
}
