import { errors } from "undici";

/** The head of an answer. */
export type AnswerHead = {
  readonly status: number;
  /** Names and values as they came, in their order. */
  readonly rawHeaders: string[];
  /** By their names in lower case; repeated ones as a list. */
  readonly headers: Readonly<Record<string, string | string[]>>;
};

export type AnswerEvents = {
  onHead: (head: AnswerHead) => void;
  /** `piece`: valid until the call returns. */
  onBody: (piece: Buffer) => void;
  onEnd: () => void;
};

/** Maximum bytes of a head, and of the trailers. */
const maxHeadBytes = 64 * 1024;
/** Maximum bytes of the line before a chunk, with its extensions. */
const maxSizeLineBytes = 4096;

const lineEnd = Buffer.from("\r\n");
const headEnd = Buffer.from("\r\n\r\n");
const nothing = Buffer.alloc(0);

const statusLine = /^HTTP\/1\.([01]) ([1-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const notInValue = /[^\t\x20-\x7e\x80-\xff]/;
const sizeLine = /^([0-9A-Fa-f]{1,12})(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

type State = "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailers" | "until-close" | "over";

/**
 * Reads one answer of HTTP/1.1 (RFC 9112) from a connection. It takes what a server must send and nothing else: bare
 * line feeds, folded lines, other transfer codings, and two statements of the length are errors.
 */
export class AnswerReader {
  readonly #events: AnswerEvents;
  readonly #isHead: boolean;
  #state: State = "head";
  /** Text whose end has not come yet. */
  #rest = nothing;
  /** Bytes left of the body or the chunk. */
  #left = 0;
  #trailerBytes = 0;
  #keepsAlive = false;

  /** `method`: of the request. */
  constructor(method: string, events: AnswerEvents) {
    this.#isHead = method === "HEAD";
    this.#events = events;
  }

  /** Whether another request may follow on the connection, after the end. */
  get keepsAlive(): boolean {
    return this.#keepsAlive;
  }

  /**
   * Reads on. Returns the bytes after the answer's end, which must not be there.
   *
   * @throws undici's HTTPParserError
   */
  push(piece: Buffer): number {
    const data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#rest = nothing;
    let at = 0;
    while (at < data.length && this.#state !== "over") at = this.#step(data, at);
    return data.length - at;
  }

  /** The server has closed the connection. @throws undici's SocketError if that was too early */
  close(): void {
    if (this.#state === "until-close") this.#end();
    else if (this.#state !== "over") throw new errors.SocketError("other side closed");
  }

  #step(data: Buffer, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(data, at);
      case "chunk-size":
        return this.#readSize(data, at);
      case "chunk-end":
        return this.#readChunkEnd(data, at);
      case "trailers":
        return this.#readTrailer(data, at);
      default:
        return this.#readBody(data, at);
    }
  }

  #readHead(data: Buffer, at: number): number {
    const end = data.indexOf(headEnd, at);
    if (end === -1) return this.#keep(data, at, maxHeadBytes);
    if (end - at > maxHeadBytes) throw broken("its head is too large");
    const head = headOf(data.toString("latin1", at, end));
    // Informational answers precede the one that counts. No protocol is ever switched.
    if (head.status === 101) throw broken("it switches protocols");
    if (head.status >= 200) this.#begin(head);
    return end + headEnd.length;
  }

  #begin(head: ParsedHead): void {
    const { status, headers, isOldest } = head;
    const coding = headers["transfer-encoding"];
    const length = headers["content-length"];
    const connection = String(headers.connection ?? "").toLowerCase();
    this.#keepsAlive = !isOldest && !connection.split(",").some((option) => option.trim() === "close");
    if (coding !== undefined) {
      if (length !== undefined || isOldest || String(coding).toLowerCase() !== "chunked") {
        throw broken("its length is unclear");
      }
      this.#state = "chunk-size";
    } else if (length === undefined) {
      this.#state = "until-close";
    } else {
      if (typeof length !== "string" || !/^[0-9]{1,15}$/.test(length)) throw broken("its length is unclear");
      this.#left = Number(length);
      this.#state = "length";
    }
    const hasNoBody = this.#isHead || status === 204 || status === 304;
    // A server that gives one a length might send a body all the same.
    if (hasNoBody && !this.#isHead && this.#state !== "until-close") this.#keepsAlive &&= this.#left === 0 && !coding;
    if (this.#state === "until-close" && !hasNoBody) this.#keepsAlive = false;
    this.#events.onHead(head);
    if (hasNoBody || (this.#state === "length" && this.#left === 0)) this.#end();
  }

  #readBody(data: Buffer, at: number): number {
    const end = this.#state === "until-close" ? data.length : Math.min(data.length, at + this.#left);
    this.#events.onBody(at === 0 && end === data.length ? data : data.subarray(at, end));
    if (this.#state === "until-close") return end;
    this.#left -= end - at;
    if (this.#left > 0) return end;
    if (this.#state === "chunk") this.#state = "chunk-end";
    else this.#end();
    return end;
  }

  #readSize(data: Buffer, at: number): number {
    const end = data.indexOf(lineEnd, at);
    if (end === -1) return this.#keep(data, at, maxSizeLineBytes);
    const size = sizeLine.exec(data.toString("latin1", at, Math.min(end, at + maxSizeLineBytes + 1)))?.[1];
    if (size === undefined) throw broken("the size of a chunk is unclear");
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? "trailers" : "chunk";
    return end + lineEnd.length;
  }

  #readChunkEnd(data: Buffer, at: number): number {
    if (data.length - at < lineEnd.length) return this.#keep(data, at, maxSizeLineBytes);
    if (data[at] !== lineEnd[0] || data[at + 1] !== lineEnd[1]) throw broken("a chunk is longer than its size");
    this.#state = "chunk-size";
    return at + lineEnd.length;
  }

  /** Trailers are not sent on. */
  #readTrailer(data: Buffer, at: number): number {
    const end = data.indexOf(lineEnd, at);
    if (end === -1) return this.#keep(data, at, maxHeadBytes - this.#trailerBytes);
    this.#trailerBytes += end - at;
    if (this.#trailerBytes > maxHeadBytes) throw broken("its trailers are too large");
    if (end === at) this.#end();
    return end + lineEnd.length;
  }

  #keep(data: Buffer, at: number, maxBytes: number): number {
    if (data.length - at > maxBytes) throw broken("a part of its head is too large");
    // A copy: the connection's buffer is used again.
    this.#rest = Buffer.from(data.subarray(at));
    return data.length;
  }

  #end(): void {
    this.#state = "over";
    this.#events.onEnd();
  }
}

/** `isOldest`: HTTP/1.0. */
type ParsedHead = AnswerHead & { readonly isOldest: boolean };

function headOf(text: string): ParsedHead {
  const lines = text.split("\r\n");
  const [, minor, status] = statusLine.exec(lines[0] ?? "") ?? [];
  if (status === undefined) throw broken("its first line is no status line");
  const rawHeaders: string[] = [];
  // Without a prototype: a server may name a header `__proto__`.
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    const value = trimmed(line, colon + 1);
    if (!headerName.test(name) || notInValue.test(value)) throw broken("a header is malformed");
    rawHeaders.push(name, value);
    const lower = name.toLowerCase();
    const before = headers[lower];
    if (before === undefined) headers[lower] = value;
    else if (Array.isArray(before)) before.push(value);
    else headers[lower] = [before, value];
  }
  return { status: Number(status), rawHeaders, headers, isOldest: minor === "0" };
}

/** A line from an index on, without the blanks around it. Other white space is part of the value. */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

const isBlank = (code: number) => code === 0x20 || code === 0x09;

const broken = (reason: string) => new errors.HTTPParserError(`The server's answer is not HTTP/1.1: ${reason}`);
