import type { Admitted, Keeping } from "../call/states.ts";
import type { Message } from "../portal/messages-in.ts";
import type { Recorder } from "../record/recorder.ts";

/** Until the head of the stream has been sent. */
const againMs = 100;
const maxPending = 100;

/** Writes messages of the gateway's own into a server's stream, between two of its events. */
export class NoticeWriter implements Keeping {
  readonly isUnattended = false;
  readonly cancelAtServer = null;
  readonly #recorder: Pick<Recorder, "onPersisted">;
  readonly #admitted: Admitted;
  /** The end of what the server has sent. */
  #tail = "";
  #pending: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(recorder: Pick<Recorder, "onPersisted">, admitted: Admitted) {
    this.#recorder = recorder;
    this.#admitted = admitted;
  }

  goesOn(): boolean {
    return false;
  }

  push(piece: Buffer): void {
    this.#tail = (this.#tail + piece.subarray(-4).toString("latin1")).slice(-4);
    // Behind this piece, which is written first.
    if (this.#pending.length > 0) queueMicrotask(this.#flush);
  }

  send(message: Message): void {
    this.#pending = [...this.#pending, `event: message\ndata: ${JSON.stringify(message)}\n\n`].slice(-maxPending);
    this.#flush();
  }

  readonly #flush = (): void => {
    const { call, received } = this.#admitted;
    const { response } = call;
    clearTimeout(this.#timer);
    if (response.destroyed || response.writableEnded || this.#pending.length === 0) return;
    if (!received.answer.isEventStream || !response.headersSent) {
      this.#timer = setTimeout(this.#flush, againMs).unref();
    } else if (this.#tail === "" || /\r?\n\r?\n$/.test(this.#tail)) {
      const text = this.#pending.splice(0).join("");
      this.#recorder.onPersisted(() => {
        if (!response.destroyed && !response.writableEnded) response.write(text);
      });
    }
  };
}
