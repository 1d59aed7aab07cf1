import { connect, type Socket } from "node:net";
import type { Endpoint } from "@towpath/runner-api";
import { Dispatcher, errors } from "undici";
import { AnswerReader } from "./answer-reader.ts";
import { Exchange } from "./exchange.ts";

/** Up to this size a body is written together with the head. */
const oneWriteBytes = 16 * 1024;

/** All connections read into this: what is kept is copied within the same turn. */
const readBuffer = Buffer.allocUnsafe(64 * 1024);

type Options = {
  readonly endpoint: Endpoint;
  /** Milliseconds. */
  readonly connectMs: number;
  /** An idle connection is closed after this long, at most half as long again. */
  readonly idleMs: number;
};

/**
 * Connections to one server, as many as it has requests at a time. An HTTP/1.1 client behind undici's interface, for a
 * fraction of its pool's time (decision 092): it never retries, pipelines, follows, upgrades or decodes.
 */
export class ServerConnections extends Dispatcher {
  readonly #options: Options;
  readonly #all = new Set<Connection>();
  /** In the order in which they were used. */
  readonly #idle: Connection[] = [];
  #unsent: Exchange[] = [];
  #sweepTimer: NodeJS.Timeout | undefined;
  /** Refuses further requests. */
  #end: Error | null = null;
  readonly #closed = Promise.withResolvers<void>();

  constructor(options: Options) {
    super();
    this.#options = options;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const exchange = new Exchange(options, handler);
    exchange.start();
    if (this.#end !== null) exchange.fail(this.#end);
    if (exchange.isOver) return true;
    this.#unsent.push(exchange);
    // Only after the events of this turn: they show which connections the server has closed, or written to unasked.
    if (this.#unsent.length === 1) setImmediate(this.#sendAll);
    return true;
  }

  /** Lets requests end. */
  override async close(): Promise<void> {
    this.#end ??= new errors.ClientClosedError();
    for (const connection of [...this.#idle]) connection.destroy();
    this.#settleIfClosed();
    return this.#closed.promise;
  }

  override async destroy(): Promise<void> {
    this.#end = new errors.ClientDestroyedError();
    for (const exchange of this.#unsent) exchange.fail(this.#end);
    for (const connection of this.#all) connection.destroy();
    return this.close();
  }

  readonly #sendAll = (): void => {
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const exchange of unsent) if (!exchange.isOver) this.#send(exchange);
    this.#settleIfClosed();
  };

  #send(exchange: Exchange): void {
    try {
      const head = exchange.head();
      let connection = this.#idle.pop();
      while (connection && !connection.isOpen) connection = this.#idle.pop();
      (connection ?? this.#open()).send(exchange, head);
    } catch (error) {
      exchange.fail(error as Error);
    }
  }

  #open(): Connection {
    const connection: Connection = new Connection(this.#options, {
      onIdle: () => {
        if (this.#end !== null) return connection.destroy();
        this.#idle.push(connection);
        this.#sweepTimer ??= setTimeout(this.#sweep, this.#options.idleMs / 2).unref();
      },
      onClosed: () => {
        this.#all.delete(connection);
        const at = this.#idle.indexOf(connection);
        if (at !== -1) this.#idle.splice(at, 1);
        this.#settleIfClosed();
      },
    });
    this.#all.add(connection);
    return connection;
  }

  readonly #sweep = (): void => {
    this.#sweepTimer = undefined;
    const lastUsed = performance.now() - this.#options.idleMs;
    for (const connection of [...this.#idle]) if (connection.idleSince <= lastUsed) connection.destroy();
    if (this.#idle.length > 0) this.#sweepTimer = setTimeout(this.#sweep, this.#options.idleMs / 2).unref();
  };

  #settleIfClosed(): void {
    if (this.#end === null || this.#all.size > 0 || this.#unsent.length > 0) return;
    clearTimeout(this.#sweepTimer);
    this.#closed.resolve();
  }
}

type ConnectionEvents = { readonly onIdle: () => void; readonly onClosed: () => void };

class Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  #exchange: Exchange | null = null;
  #reader: AnswerReader | null = null;
  /** performance.now() */
  idleSince = 0;

  constructor({ endpoint, connectMs }: Options, events: ConnectionEvents) {
    this.#events = events;
    const to = endpoint.kind === "unix" ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
    const onread = { buffer: readBuffer, callback: (bytes: number) => this.#read(readBuffer.subarray(0, bytes)) };
    const socket = connect({ ...to, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000, onread });
    const timeout = () => socket.destroy(new errors.ConnectTimeoutError("the server takes no connection"));
    const timer = setTimeout(timeout, connectMs).unref();
    let failure: Error | null = null;
    socket.once("connect", () => clearTimeout(timer));
    socket.on("error", (error) => {
      failure = error;
    });
    socket.on("end", () => this.#serverClosed());
    socket.on("close", () => {
      clearTimeout(timer);
      this.#exchange?.fail(failure ?? new errors.SocketError("closed"));
      this.#events.onClosed();
    });
    this.#socket = socket;
  }

  /** Neither side has closed it. */
  get isOpen(): boolean {
    return this.#socket.readable && this.#socket.writable;
  }

  send(exchange: Exchange, head: string): void {
    const { method, body } = exchange;
    this.#exchange = exchange;
    this.#reader = new AnswerReader(method, exchange);
    exchange.carrier = this;
    if (body === null) this.#socket.write(head, "latin1");
    // A string is written at once; a buffer after it would need a second, slower write.
    else if (body.length <= oneWriteBytes) this.#socket.write(head + body.toString("latin1"), "latin1");
    else {
      this.#socket.cork();
      this.#socket.write(head, "latin1");
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Returns whether to read on. */
  #read(piece: Buffer): boolean {
    const exchange = this.#exchange;
    const reader = this.#reader;
    if (exchange === null || reader === null) {
      this.destroy();
      return true;
    }
    try {
      const unasked = reader.push(piece);
      if (!exchange.isOver) return !exchange.paused;
      this.#exchange = null;
      const isWritten = this.#socket.writableLength === 0;
      if (unasked === 0 && isWritten && reader.keepsAlive && !exchange.aborted) this.#becomeIdle();
      else this.destroy();
    } catch (error) {
      exchange.fail(error as Error);
      this.destroy();
    }
    return true;
  }

  #becomeIdle(): void {
    this.idleSince = performance.now();
    this.#events.onIdle();
  }

  #serverClosed(): void {
    try {
      if (this.#exchange !== null) this.#reader?.close();
    } catch (error) {
      this.#exchange?.fail(error as Error);
    }
  }
}
