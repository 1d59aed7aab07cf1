import { Writable } from "node:stream";
import type { CallResponse } from "../call/states.ts";

/**
 * Passes a server's answer on to the client of its call, until the client gets a task in its place, or leaves a call
 * that goes on. From then on it takes the answer for nobody, and no longer closes with the client.
 */
export class TaskResponse extends Writable implements CallResponse {
  /** Null: nobody ever gets the answer. */
  readonly client: CallResponse | null;
  headersSent = false;
  /** Whether the call goes on when its client leaves, as nobody else asks; null: it ends, or whoever forwards it asks. */
  goesOn: ((abort: () => void) => boolean) | null = null;
  #isEventStream = false;
  /** The end of what the client has got of a stream. */
  #tail = "";
  #isDetached: boolean;
  #taken: (() => void) | null = null;

  constructor(client: CallResponse | null) {
    super();
    this.client = client;
    this.#isDetached = client === null;
    this.on("error", () => {});
    client?.once("close", this.#onClose);
    if (client?.destroyed) this.destroy();
  }

  /** Whether the client can get a task: no answer has begun, or a stream that is between two events. */
  get canDetach(): boolean {
    if (this.#isDetached || this.destroyed || this.writableEnded) return false;
    if (!this.headersSent) return true;
    return this.#isEventStream && (this.#tail === "" || /\r?\n\r?\n$/.test(this.#tail));
  }

  get isDetached(): boolean {
    return this.#isDetached;
  }

  /** Answers the client with a message. `headers`: flat, for an answer that hasn't begun. */
  detach(message: string, headers: readonly string[]): void {
    const { client } = this;
    this.#isDetached = true;
    client?.off("close", this.#onClose);
    if (this.headersSent) client?.end(`event: message\ndata: ${message}\n\n`);
    else {
      client?.writeHead(200, ["content-type", "application/json", ...headers]);
      client?.end(message);
    }
    this.#taken?.();
  }

  writeHead(status: number, headers: string[]): void {
    this.headersSent = true;
    if (this.#isDetached) return;
    const headerValue = (header: string) => {
      const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === header);
      return at === -1 ? null : (headers[at + 1] ?? null);
    };
    // The task would be text within compressed bytes.
    const isPlain = headerValue("content-encoding") === null;
    this.#isEventStream =
      status === 200 && isPlain && headerValue("content-type")?.startsWith("text/event-stream") === true;
    this.client?.writeHead(status, headers);
  }

  flushHeaders(): void {
    if (!this.#isDetached) this.client?.flushHeaders();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#tail = (this.#tail + chunk.subarray(-4).toString("latin1")).slice(-4);
    if (this.#isDetached || this.client === null || this.client.write(chunk)) {
      callback();
      return;
    }
    this.#taken = () => {
      this.#taken = null;
      callback();
    };
    this.client.once("drain", () => this.#taken?.());
  }

  override _final(callback: () => void): void {
    if (this.#isDetached || this.client === null) callback();
    else this.client.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // A truncated answer must not look complete.
    if (!this.#isDetached && !this.writableFinished) this.client?.destroy();
    callback(error);
  }

  readonly #onClose = (): void => {
    if (this.goesOn?.(() => this.destroy())) {
      this.#isDetached = true;
      this.#taken?.();
    } else this.destroy();
  };
}
