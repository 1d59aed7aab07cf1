import { type Dispatcher, errors } from "undici";
import type { AnswerEvents, AnswerHead } from "./answer-reader.ts";

/** What an exchange needs of its connection. */
type Carrier = { resume: () => void; destroy: () => void };

/** Methods whose requests state their length even if it is 0. */
const withBody: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "QUERY", "PROPFIND", "PROPPATCH"]);
const requestLine = /^[!-~]+ [!-~\x80-\xff]+$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const notInValue = /[^\t\x20-\x7e\x80-\xff]/;

/** One request to a server and its answer; undici's controller for the handler. Reports an end or an error, once. */
export class Exchange implements Dispatcher.DispatchController, AnswerEvents {
  readonly method: string;
  readonly body: Buffer | null;
  rawHeaders: string[] = [];
  paused = false;
  aborted = false;
  reason: Error | null = null;
  /** The answer has ended, or there is none. */
  isOver = false;
  /** Null until it is sent. */
  carrier: Carrier | null = null;
  readonly #path: string;
  readonly #headers: Dispatcher.DispatchOptions["headers"];
  readonly #handler: Dispatcher.DispatchHandler;

  /** `options`: the headers without framing (headers.ts), the body a buffer. */
  constructor({ method, path, headers, body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.method = method;
    this.#path = path;
    this.#headers = headers;
    this.body = Buffer.isBuffer(body) ? body : null;
    this.#handler = handler;
  }

  start(): void {
    this.#handler.onRequestStart?.(this, null);
  }

  /** The request's head. @throws undici's InvalidArgumentError for what would not be one */
  head(): string {
    const first = `${this.method} ${this.#path}`;
    if (!requestLine.test(first)) throw new errors.InvalidArgumentError("invalid request line");
    let fields = "";
    let host = "host: localhost\r\n";
    const list = flat(this.#headers);
    for (let at = 0; at < list.length; at += 2) {
      const name = list[at] ?? "";
      const value = list[at + 1] ?? "";
      if (!headerName.test(name) || notInValue.test(value))
        throw new errors.InvalidArgumentError(`invalid ${name} header`);
      if (name.length === 4 && name.toLowerCase() === "host") host = `host: ${value}\r\n`;
      else fields += `${name}: ${value}\r\n`;
    }
    if (this.body !== null) fields += `content-length: ${this.body.length}\r\n`;
    else if (withBody.has(this.method)) fields += "content-length: 0\r\n";
    return `${first} HTTP/1.1\r\n${host}connection: keep-alive\r\n${fields}\r\n`;
  }

  onHead({ status, rawHeaders, headers }: AnswerHead): void {
    if (this.isOver) return;
    this.rawHeaders = rawHeaders;
    this.#handler.onResponseStart?.(this, status, headers);
  }

  onBody(piece: Buffer): void {
    // A copy: the connection's buffer is used again.
    if (!this.isOver) this.#handler.onResponseData?.(this, Buffer.from(piece));
  }

  onEnd(): void {
    if (this.isOver) return;
    this.#close();
    this.#handler.onResponseEnd?.(this, {});
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.#close();
    this.#handler.onResponseError?.(this, error);
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    this.aborted = true;
    this.reason = reason;
    const { carrier } = this;
    this.fail(reason);
    carrier?.destroy();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.carrier?.resume();
  }

  #close(): void {
    this.isOver = true;
    // It may carry another exchange by now.
    this.carrier = null;
  }
}

function flat(headers: Dispatcher.DispatchOptions["headers"]): readonly string[] {
  if (Array.isArray(headers)) return headers;
  return Object.entries(headers ?? {}).flatMap(([name, value]) => [name, String(value)]);
}
