const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
/** First bytes of `data`, of `id`, and of the byte order mark that may precede the first field. */
const firstBytes: readonly (number | undefined)[] = [0x64, 0x69, 0xef];
const dataField = [0x64, 0x61, 0x74, 0x61, COLON];
const lineFeed = Buffer.from("\n");

export type SseEvents = {
  /** A piece of the event's data; pieces of one event belong together. */
  onData: (piece: Buffer) => void;
  onEventEnd: () => void;
  /** The stream gave an event id: a client may resume it. */
  onId: () => void;
};

type State = "line-start" | "field" | "value-start" | "data" | "ignored";

/** Splits a server-sent event stream into the data of its events as bytes arrive; keeps at most a field name. */
export class SseReader {
  readonly #events: SseEvents;
  #state: State = "line-start";
  #field = "";
  /** The last byte was a carriage return: a line feed right after it belongs to the same line end. */
  #afterReturn = false;
  #dataLines = 0;

  constructor(events: SseEvents) {
    this.#events = events;
  }

  push(chunk: Buffer): void {
    let at = 0;
    if (this.#afterReturn && chunk.length > 0) {
      this.#afterReturn = false;
      if (chunk[0] === LINE_FEED) at = 1;
    }
    let nextReturn = chunk.indexOf(CARRIAGE_RETURN, at);
    while (at < chunk.length) {
      if (nextReturn !== -1 && nextReturn < at) nextReturn = chunk.indexOf(CARRIAGE_RETURN, at);
      const nextFeed = chunk.indexOf(LINE_FEED, at);
      const end = firstOf(nextFeed, nextReturn, chunk.length);
      this.#readPart(chunk, at, end);
      at = end;
      if (at === chunk.length) return;
      this.#endLine();
      at++;
      if (chunk[at - 1] === CARRIAGE_RETURN) {
        if (at === chunk.length) this.#afterReturn = true;
        else if (chunk[at] === LINE_FEED) at++;
      }
    }
  }

  #readPart(chunk: Buffer, from: number, to: number): void {
    let at = from;
    // Almost always a line comes whole, with a field that can be recognized without collecting its name.
    if (this.#state === "line-start" && at < to) {
      if (!firstBytes.includes(chunk[at])) this.#state = "ignored";
      else if (dataField.every((byte, index) => chunk[from + index] === byte) && to - from >= dataField.length) {
        this.#state = "value-start";
        at += dataField.length;
      }
    }
    while (at < to && (this.#state === "line-start" || this.#state === "field")) {
      const byte = chunk[at++];
      if (byte === COLON) {
        this.#state = this.#field === "data" ? "value-start" : "ignored";
        if (this.#field === "id") this.#events.onId();
        break;
      }
      this.#state = "field";
      // The longest name of interest has four letters; a byte order mark before the first has three bytes.
      if (this.#field.length < 8) this.#field += String.fromCharCode(byte ?? 0);
      if (this.#field === "\u00ef\u00bb\u00bf") this.#field = "";
    }
    if (at >= to) return;
    if (this.#state === "value-start") {
      this.#state = "data";
      if (this.#dataLines++ > 0) this.#events.onData(lineFeed);
      if (chunk[at] === SPACE) at++;
    }
    if (this.#state === "data" && at < to) this.#events.onData(chunk.subarray(at, to));
  }

  #endLine(): void {
    if (this.#state === "line-start" && this.#dataLines > 0) {
      this.#dataLines = 0;
      this.#events.onEventEnd();
    }
    this.#state = "line-start";
    this.#field = "";
  }
}

function firstOf(a: number, b: number, otherwise: number): number {
  if (a === -1) return b === -1 ? otherwise : b;
  return b === -1 || a < b ? a : b;
}
