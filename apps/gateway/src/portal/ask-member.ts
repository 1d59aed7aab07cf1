import { PassThrough, type Readable, Writable } from "node:stream";
import type { Answer } from "../call/answer.ts";
import type { CallResponse, RoutedCall } from "../call/states.ts";
import type { Principal } from "../policy/credentials.ts";
import type { Route } from "../read-model/routes.ts";
import { newRequestId } from "../record/request-id.ts";

/** Calls a server under all of its own policies except authentication, and records the row in its log. */
export type CallServer = (call: RoutedCall) => Promise<void>;

/** A server of a portal, for a caller with access to it. `via` names the portal in the server's log. */
export type Member = { readonly route: Route; readonly principal: Principal; readonly via: string };

/** `headers`: flat, names in lower case. */
type Message = { readonly method: "POST" | "DELETE"; readonly headers: readonly string[]; readonly body: Buffer };

type Asked = {
  readonly member: Member;
  readonly message: Message;
  /** Of the portal's client: limits distinguish callers without a name by it. */
  readonly address: string;
  /** The portal's own answer; null if there is none, or it has ended. */
  readonly answer: Answer | null;
  /** The client's response: if it closes before the server has answered, so does the connection to the server. */
  readonly waiting?: CallResponse;
};

/** A server's answer as it arrives. Destroy `body` to abort it. */
export type MemberAnswer = { status: number; headers: Readonly<Record<string, string>>; body: Readable };

/** Sends a message to a server of a portal within this process. Rejects if the server's answer doesn't begin. */
export function askMember(callServer: CallServer, asked: Asked): Promise<MemberAnswer> {
  return new Promise((resolve, reject) => {
    const { waiting } = asked;
    const response = new MemberResponse(resolve);
    const leave = () => response.destroy();
    waiting?.once("close", leave);
    response.once("close", () => {
      waiting?.off("close", leave);
      reject(new Error("the server's answer ended before it began"));
    });
    if (waiting?.destroyed) leave();
    callServer(callOf(asked, response)).catch(reject);
  });
}

function callOf({ member, message, address, answer }: Asked, response: CallResponse): RoutedCall {
  const { route, principal, via } = member;
  const { method, headers, body } = message;
  const length = body.length > 0 ? ["content-length", String(body.length)] : [];
  const rawHeaders = [...headers, ...length];
  const time = Date.now();
  return {
    id: newRequestId(time),
    time,
    route,
    body,
    response,
    address,
    request: { method, rawHeaders, headers: byName(rawHeaders) },
    target: {
      kind: "server",
      label: route.label,
      domain: null,
      path: "/mcp",
      isMcp: true,
      isWellKnown: false,
      otherPath: null,
    },
    portal: { name: via, principal, answer },
  };
}

const byName = (flat: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    flat.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), flat[at + 1] ?? ""] as const] : [])),
  );

/** Receives a server's answer for a portal. */
class MemberResponse extends Writable implements CallResponse {
  headersSent = false;
  #head = { status: 0, headers: {} };
  readonly #body = new PassThrough();
  readonly #onHead: (answer: MemberAnswer) => void;

  constructor(onHead: (answer: MemberAnswer) => void) {
    super();
    this.#onHead = onHead;
    this.#body.once("close", () => this.destroy());
    this.#body.on("error", () => {});
    this.on("error", () => {});
  }

  writeHead(status: number, headers: string[]): void {
    this.#head = { status, headers: byName(headers) };
    this.headersSent = true;
  }

  flushHeaders(): void {
    this.#onHead({ ...this.#head, body: this.#body });
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
