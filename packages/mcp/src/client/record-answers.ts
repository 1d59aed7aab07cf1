import {
  answerKey,
  type Conversation,
  firstModernVersion,
  isModern,
  listMethods,
  type RecordedAnswers,
  streamKey,
} from "../manifest/index.ts";
import type { Connection } from "./connection.ts";
import { asMcpClientError, timedOut } from "./errors.ts";
import { exchange, openStream, type RawAnswer, type RawMessage } from "./raw-exchange.ts";
import { connectTarget, type McpTarget } from "./target.ts";

export type RecordOptions = {
  /** In total. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Maximum bytes of all responses. Default 8 MiB. */
  readonly maxBytes?: number;
  /** Headers of the second caller, whose answers are compared with those of the first. */
  readonly otherCaller: Readonly<Record<string, string>>;
};

export type Recording = {
  readonly answers: RecordedAnswers;
  /** The first method with a different answer for the second caller; null: none. */
  readonly variesBy: string | null;
};

/** The revisions that clients over this transport request in `initialize`. */
const legacyVersions = ["2025-03-26", "2025-06-18", "2025-11-25"] as const;
const maxPages = 100;
const methodNotFound = -32601;
/** With these, servers of earlier revisions refuse `server/discover`; clients then `initialize`. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 406]);
const defaultMaxBytes = 8 * 1024 * 1024;

type Caller = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly capabilities: Readonly<Record<string, unknown>>;
};

const firstCaller: Caller = { name: "towpath", headers: {}, capabilities: {} };

/**
 * Records a server's answers to handshakes, pings and lists in every revision, so that a gateway can answer in its
 * place while it is asleep (GW-12). A second caller, with other headers, name and capabilities, shows whether the
 * answers depend on the caller.
 *
 * @throws McpClientError when nothing could be recorded
 */
export async function recordAnswers(target: McpTarget, options: RecordOptions): Promise<Recording> {
  const { timeoutMs, maxBytes = defaultMaxBytes, otherCaller } = options;
  const connection = connectTarget(target, maxBytes);
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([deadline, connection.overflow, ...(options.signal ? [options.signal] : [])]);
  const second: Caller = {
    name: "towpath-second-caller",
    headers: otherCaller,
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} },
  };
  const record = (caller: Caller, version: string) =>
    new Recorder(connection, { caller, signal, headers: target.headers ?? {} }).record(version);
  try {
    const versions = [...legacyVersions, firstModernVersion];
    const recorded = await Promise.all(versions.map((version) => record(firstCaller, version)));
    const found = recorded.filter((each) => each !== null);
    // One revision is enough: a server that supports both eras has the same lists in both.
    const last = found.findLast(({ answers }) => answers.has("tools/list")) ?? found.at(-1);
    const again = last ? await record(second, last.requested) : null;
    return { answers: withSharedTexts(found), variesBy: last ? differenceOf(last, again) : null };
  } catch (error) {
    if (connection.overflow.aborted) throw asMcpClientError(connection.overflow.reason);
    if (deadline.aborted) throw timedOut(error);
    throw asMcpClientError(error);
  } finally {
    await connection.close().catch(() => {});
  }
}

type RecordedAnswer = { readonly status: number; readonly text: string; readonly hasId: boolean };
type RecordedConversation = Omit<Conversation, "answers"> & { readonly answers: ReadonlyMap<string, RecordedAnswer> };

/** One conversation: handshake, ping and all pages of all lists. */
class Recorder {
  readonly #connection: Connection;
  readonly #caller: Caller;
  readonly #signal: AbortSignal;
  readonly #answers = new Map<string, RecordedAnswer>();
  #headers: Record<string, string>;
  #meta: Record<string, unknown> | null = null;
  #lastId = 0;

  constructor(
    connection: Connection,
    parts: { caller: Caller; signal: AbortSignal; headers: Readonly<Record<string, string>> },
  ) {
    this.#connection = connection;
    this.#caller = parts.caller;
    this.#signal = parts.signal;
    this.#headers = { ...parts.headers, ...parts.caller.headers };
  }

  /** Null if the server refuses the handshake in a way that may not last. */
  async record(requested: string): Promise<RecordedConversation | null> {
    const opened = isModern(requested) ? await this.#discover(requested) : await this.#initialize(requested);
    return opened && { requested, ...opened, answers: this.#answers };
  }

  async #initialize(requested: string): Promise<Pick<Conversation, "version" | "hasSession"> | null> {
    const { name, capabilities } = this.#caller;
    const params = { protocolVersion: requested, capabilities, clientInfo: { name, version: "1" } };
    const answer = await this.#ask("initialize", params);
    const version = answer.result?.protocolVersion;
    if (typeof version !== "string") return null;
    this.#keep(answerKey("initialize"), answer);
    this.#headers = { ...this.#headers, "mcp-protocol-version": version };
    if (answer.sessionId !== null) this.#headers["mcp-session-id"] = answer.sessionId;
    await this.#send({ method: "notifications/initialized" });
    this.#keep(answerKey("ping"), await this.#ask("ping"));
    await this.#lists();
    if (answer.sessionId === null) await this.#stream();
    return { version, hasSession: answer.sessionId !== null };
  }

  async #stream(): Promise<void> {
    const { status, text } = await openStream(this.#connection, { headers: this.#headers, signal: this.#signal });
    if (status === 200 || refusals.has(status)) this.#answers.set(streamKey, { status, text, hasId: false });
  }

  async #discover(version: string): Promise<Pick<Conversation, "version" | "hasSession"> | null> {
    this.#headers = { ...this.#headers, "mcp-protocol-version": version };
    this.#meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": this.#caller.capabilities,
      "io.modelcontextprotocol/clientInfo": { name: this.#caller.name, version: "1" },
    };
    const answer = await this.#ask("server/discover");
    if (answer.result === null && answer.errorCode !== methodNotFound && !refusals.has(answer.status)) return null;
    this.#keep(answerKey("server/discover"), answer);
    if (answer.result !== null) await this.#lists();
    return { version, hasSession: false };
  }

  async #lists(): Promise<void> {
    await Promise.all(listMethods.map((method) => this.#list(method)));
  }

  async #list(method: string): Promise<void> {
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const answer = await this.#ask(method, cursor === undefined ? {} : { cursor });
      // "Method not found" is a lasting answer; any other error may be transient.
      if (answer.result === null && answer.errorCode !== methodNotFound) return;
      this.#keep(answerKey(method, cursor), answer);
      const next = answer.result?.nextCursor;
      if (typeof next !== "string") return;
      cursor = next;
    }
  }

  #keep(key: string, { status, answer }: RawAnswer): void {
    if (answer !== null) this.#answers.set(key, { status, ...answer });
  }

  #ask(method: string, params: Record<string, unknown> = {}): Promise<RawAnswer> {
    const all = this.#meta === null ? params : { ...params, _meta: this.#meta };
    return this.#send({ id: ++this.#lastId, method, ...(Object.keys(all).length > 0 && { params: all }) });
  }

  #send(message: RawMessage): Promise<RawAnswer> {
    const headers = this.#meta === null ? this.#headers : { ...this.#headers, "mcp-method": message.method };
    return exchange(this.#connection, message, { headers, signal: this.#signal });
  }
}

/** The first method to which two callers got different answers; null: none. */
function differenceOf(first: RecordedConversation, second: RecordedConversation | null): string | null {
  for (const key of new Set([...first.answers.keys(), ...(second?.answers.keys() ?? [])])) {
    if (first.answers.get(key)?.text !== second?.answers.get(key)?.text) return key.split(" ", 1)[0] ?? key;
  }
  return null;
}

function withSharedTexts(conversations: readonly RecordedConversation[]): RecordedAnswers {
  const indexes = new Map<string, number>();
  const indexOf = (text: string) => {
    const known = indexes.get(text) ?? indexes.size;
    indexes.set(text, known);
    return known;
  };
  const shared = conversations.map(({ answers, ...rest }) => ({
    ...rest,
    answers: Object.fromEntries(
      [...answers].map(([key, { status, text, hasId }]) => [key, { status, text: indexOf(text), hasId }]),
    ),
  }));
  return { texts: [...indexes.keys()], conversations: shared };
}
