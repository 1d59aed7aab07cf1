import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, Readable, Writable } from "node:stream";
import type { Principal } from "../policy/credentials.ts";
import type { Route } from "../read-model/routes.ts";
import type { Exchange } from "../record/exchange.ts";

/** What a portal sends to one of its servers. `headers`: flat, names in lower case. */
type MemberMessage = { method: "POST" | "DELETE"; headers: readonly string[]; body: Buffer };

/** A server's answer as it comes. Destroy `body` to tell the server that nobody waits for it any more. */
export type MemberAnswer = { status: number; headers: Readonly<Record<string, string>>; body: Readable };

/**
 * Who calls through a portal; `via` names the portal in the log of the server. `caller`: the portal's own exchange; null
 * where it has none, or has ended.
 */
export type Known = { route: Route; principal: Principal; via: string; caller: Exchange | null };

/**
 * Handles a request as if a client had sent it to that server, after its authentication: all policies of the server's own
 * apply, and its log gets the row.
 */
export type HandleKnown = (request: IncomingMessage, response: ServerResponse, known: Known) => Promise<void>;

/** The parts of a client's connection by which limits tell callers without a name apart. */
export type Origin = { readonly remoteAddress: string | undefined; readonly forwardedFor: string | undefined };

export function originOf({ socket, headers }: IncomingMessage): Origin {
  const forwarded = headers["x-forwarded-for"];
  return { remoteAddress: socket?.remoteAddress, forwardedFor: typeof forwarded === "string" ? forwarded : undefined };
}

type Asked = {
  readonly known: Known;
  readonly message: MemberMessage;
  readonly origin: Origin;
  /** The client's response: when it closes before the server has answered, the server hears of it. */
  readonly waiting?: ServerResponse;
};

/** Sends a message to a server of a portal within this process. Rejects when the server's answer doesn't begin. */
export function askMember(handle: HandleKnown, { known, message, origin, waiting }: Asked): Promise<MemberAnswer> {
  return new Promise((resolve, reject) => {
    const response = new MemberResponse(resolve);
    const request = new MemberRequest(message, origin);
    const leave = () => response.destroy();
    waiting?.once("close", leave);
    response.once("close", () => {
      waiting?.off("close", leave);
      reject(new Error("the server's answer ended before it began"));
    });
    if (waiting?.destroyed) leave();
    handle(request as unknown as IncomingMessage, response as unknown as ServerResponse, known).catch(reject);
  });
}

/** A request whose body has come whole. */
class MemberRequest extends Readable {
  readonly method: string;
  readonly url = "/mcp";
  readonly httpVersion = "1.1";
  readonly complete = true;
  readonly rawHeaders: string[];
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress: string | undefined };

  constructor({ method, headers, body }: MemberMessage, { remoteAddress, forwardedFor }: Origin) {
    super({ read: () => {} });
    const all = [...headers, ...(body.length > 0 ? ["content-length", String(body.length)] : [])];
    this.method = method;
    this.rawHeaders = all;
    this.headers = Object.fromEntries(all.flatMap((name, at) => (at % 2 === 0 ? [[name, all[at + 1]]] : [])));
    if (forwardedFor !== undefined) this.headers["x-forwarded-for"] = forwardedFor;
    this.socket = { remoteAddress };
    if (body.length > 0) this.push(body);
    this.push(null);
  }
}

/** The part of a ServerResponse that the gateway uses, into a stream. */
class MemberResponse extends Writable {
  headersSent = false;
  statusCode = 0;
  readonly #body = new PassThrough();
  readonly #onHead: (answer: MemberAnswer) => void;
  #headers: Record<string, string> = {};

  constructor(onHead: (answer: MemberAnswer) => void) {
    super();
    this.#onHead = onHead;
    this.#body.once("close", () => this.destroy());
    this.#body.on("error", () => {});
    this.on("error", () => {});
  }

  writeHead(status: number, headers: readonly string[]): this {
    this.statusCode = status;
    this.#headers = Object.fromEntries(
      headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1] ?? ""]] : [])),
    );
    this.headersSent = true;
    return this;
  }

  flushHeaders(): void {
    const { statusCode: status } = this;
    this.#onHead({ status, headers: this.#headers, body: this.#body });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.flushHeaders();
    if (this.#body.write(chunk)) callback();
    else this.#body.once("drain", callback);
  }

  override _final(callback: () => void): void {
    this.flushHeaders();
    this.#body.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // A truncated answer must not look complete.
    if (!this.writableFinished) this.#body.destroy(error ?? new Error("the server's answer was cut off"));
    callback(null);
  }
}
