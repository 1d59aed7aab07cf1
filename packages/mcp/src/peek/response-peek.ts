import { compileShape, type Fields, JsonScanner } from "./json-scanner.ts";
import { parseSmall, smallBytes } from "./small-json.ts";
import { SseReader } from "./sse-reader.ts";

/** Facts from the answer to one request. */
export type AnswerPeek = {
  id: string | number | null;
  /** JSON-RPC error; null for a result. A code that is no number counts as 0. */
  errorCode: number | null;
  /** Of a JSON-RPC error, or the texts in a failed tool's result; at most its first 2 KiB. */
  errorMessage: string | null;
  /** `result.isError`: the tool ran and failed. */
  isError: boolean;
  /** `result.resultType` (2026-07-28): complete, input_required, … */
  resultType: string | null;
  /** `result.protocolVersion`: the revision that `initialize` agreed on. */
  protocolVersion: string | null;
  /** The answer unchanged, or its first `captureBytes`; null without them. */
  payload: Buffer | null;
  /** Length of the whole answer; 0 without `captureBytes`. */
  payloadBytes: number;
};

export type ResponsePeekOptions = {
  /** Ids of the requests that wait for an answer; null: any answer counts. */
  ids: readonly (string | number)[] | null;
  format: "json" | "sse";
  /** Keep this many bytes of each answer; 0 keeps none. */
  captureBytes?: number;
};

/**
 * Maximum bytes outside of strings to scan in one message, over all its chunks: about 50 ms at worst. `isError` often
 * comes last.
 */
const budget = 16 * 1024 * 1024;
const maxAnswers = 100;

const shape = compileShape({
  id: true,
  method: true,
  error: { code: true, message: true },
  result: { isError: true, resultType: true, protocolVersion: true, content: "head" },
});

const contentShape = compileShape({ type: true, text: true });

/**
 * Finds answers in a response while it streams through. Nothing is delayed and, except for captured payloads, nothing
 * is kept: memory does not grow with the response. Never throws.
 */
export class ResponsePeek {
  readonly answers: AnswerPeek[] = [];
  /** Whether the stream carried event ids, so that a client may resume it. */
  resumable = false;
  readonly #ids: ResponsePeekOptions["ids"];
  readonly #waiting: number;
  readonly #reader: SseReader | null;
  readonly #captureBytes: number;
  /** Held back while a message may turn out to be a single small piece, which is parsed at its end. */
  #held: Buffer | null = null;
  #scanner: JsonScanner | null = null;
  #captured: Buffer[] = [];
  #capturedBytes = 0;
  #answersBeforeMessage = 0;

  constructor(options: ResponsePeekOptions) {
    this.#ids = options.ids;
    this.#waiting = options.ids ? options.ids.length : maxAnswers;
    this.#captureBytes = options.captureBytes ?? 0;
    this.#reader =
      options.format === "sse"
        ? new SseReader({
            onData: (piece) => this.#readPiece(piece),
            onEventEnd: () => this.#endMessage(true),
            onId: () => {
              this.resumable = true;
            },
          })
        : null;
  }

  /** Whether every expected answer has passed; the rest is not scanned. */
  get isDone(): boolean {
    return this.answers.length >= this.#waiting;
  }

  /** Whether an event stream has delivered every expected answer: its client may continue while it stays open. */
  get isStreamAnswered(): boolean {
    const isCaptured = this.#captureBytes === 0 || this.#answersBeforeMessage === this.answers.length;
    return this.#reader !== null && this.isDone && isCaptured;
  }

  push(chunk: Buffer): void {
    if (this.isDone && this.#captureBytes === 0) return;
    if (this.#reader) this.#reader.push(chunk);
    else this.#readPiece(chunk);
  }

  /** Call once when the response has ended; `isWhole`: normally, so that unscanned parts have passed too. */
  end({ isWhole }: { isWhole: boolean }): void {
    this.#endMessage(isWhole);
  }

  #readPiece(piece: Buffer): void {
    if (this.#scanner) this.#scanner.push(piece);
    else if (this.#held === null && piece.length <= smallBytes) this.#held = piece;
    else this.#scan(piece);
    if (this.#captureBytes === 0) return;
    const room = this.#captureBytes - this.#capturedBytes;
    this.#capturedBytes += piece.length;
    // A copy: a slice would hold the whole chunk.
    if (room > 0) this.#captured.push(Buffer.from(piece.subarray(0, room)));
  }

  #scan(piece: Buffer | null): void {
    this.#scanner = new JsonScanner(shape, { budget, onMessage: (fields) => this.#onMessage(fields) });
    if (this.#held) this.#scanner.push(this.#held);
    if (piece) this.#scanner.push(piece);
    this.#held = null;
  }

  #readHeld(): void {
    if (this.#held === null) return;
    const small = parseSmall(this.#held, shape);
    // The scanner also finds the texts of failed tools, which are rare.
    if (small && !small.messages.some(isToolError)) for (const fields of small.messages) this.#onMessage(fields);
    else this.#scan(null);
    this.#held = null;
  }

  #endMessage(isWhole: boolean): void {
    this.#readHeld();
    if (isWhole) this.#takeUnfinished();
    if (this.#captureBytes > 0) {
      const payload = Buffer.concat(this.#captured);
      for (const answer of this.answers.slice(this.#answersBeforeMessage)) {
        answer.payload = payload;
        answer.payloadBytes = this.#capturedBytes;
      }
      this.#captured = [];
      this.#capturedBytes = 0;
    }
    this.#answersBeforeMessage = this.answers.length;
    this.#scanner = null;
  }

  /** A message too large to scan completely counts with the members found: it has passed all the same. */
  #takeUnfinished(): void {
    if (this.#scanner?.isExhausted && this.#scanner.unfinished) this.#onMessage(this.#scanner.unfinished, true);
  }

  #onMessage(fields: Fields, isCut = false): void {
    // A message with a method is the server's own request or notification, with any id.
    if (fields.method !== undefined || this.isDone) return;
    const isError = fields.error !== undefined && fields.error !== null;
    if (!isError && fields.result === undefined) return;
    const id = typeof fields.id === "string" || typeof fields.id === "number" ? fields.id : null;
    // An error without an id answers a message that the server could not read; in a cut message the id may come later.
    if (id === null ? !isError && !isCut : this.#ids !== null && !this.#ids.includes(id)) return;
    const code = fields["error.code"];
    const failed = isToolError(fields);
    this.answers.push({
      id,
      errorCode: isError ? (typeof code === "number" ? code : 0) : null,
      errorMessage: isError ? text(fields["error.message"]) : failed ? textsOf(fields["result.content"]) : null,
      isError: failed,
      resultType: text(fields["result.resultType"]),
      protocolVersion: text(fields["result.protocolVersion"]),
      payload: null,
      payloadBytes: 0,
    });
  }
}

const isToolError = (fields: Fields): boolean => fields["result.isError"] === true;

/** The texts in the beginning of a result's content, on separate lines; null if it has none. */
function textsOf(head: Fields[string]): string | null {
  if (typeof head !== "string") return null;
  const texts: string[] = [];
  const scanner = new JsonScanner(contentShape, {
    budget,
    onMessage: (block) => {
      if (block.type === "text" && typeof block.text === "string") texts.push(block.text);
    },
  });
  scanner.push(Buffer.from(head, "latin1"));
  scanner.cut();
  return texts.join("\n") || null;
}

function text(value: Fields[string]): string | null {
  return typeof value === "string" ? value : null;
}
