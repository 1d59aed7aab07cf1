import type {
  CallDeadline,
  CompletionTarget,
  Elicitation,
  ElicitationAnswer,
  LogMessage,
  McpClient,
  Sampling,
  SamplingAnswer,
} from "@towpath/mcp/web-client";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { type CallResult, canceledCode, type ServerCall } from "../server-call.ts";
import { type ProtocolMessage, withMessage } from "./protocol-log.ts";
import { type AnswerInfo, relayFetch } from "./relay-fetch.ts";

export type Progress = { readonly progress: number; readonly total: number | null; readonly message: string | null };

/** What happens while a call runs. */
export type CallHandlers = {
  readonly onProgress: (progress: Progress) => void;
  readonly onLog: (message: LogMessage) => void;
  /** The row of the request log. */
  readonly onRequest: (requestId: string) => void;
  readonly onElicit: (asked: Elicitation) => Promise<ElicitationAnswer>;
  readonly onSample: (asked: Sampling) => Promise<SamplingAnswer | null>;
};

export type ConnectionState = {
  readonly status: "closed" | "connecting" | "open";
  readonly protocolVersion: string | null;
  readonly messages: readonly ProtocolMessage[];
};

type Library = typeof import("@towpath/mcp/web-client");
const loadLibrary = (): Promise<Library> => import("@towpath/mcp/web-client");

/** Loads the client of MCP ahead of the first call, which reports a failure. */
export const preloadLibrary = (): void => void loadLibrary().catch(() => {});

type Running = CallHandlers & { readonly deadline: CallDeadline; failure: AnswerInfo["failure"] };

const clientName = "Towpath inspector";
/** Maximum duration of a call, without the time that the person takes to answer. */
const callMs = 5 * 60_000;
/** A server that is connected may stay awake. */
const idleMs = 5 * 60_000;
const maxBytes = 64 * 1024 * 1024;

/**
 * The page's connection to one server, in both eras. The first call opens it, all others share it; it reopens when the
 * server has forgotten the session, and closes when idle. One call at a time.
 */
export class ServerConnection {
  readonly #endpoint: { readonly url: URL; readonly authorization: () => string | null };
  readonly #listeners = new Set<() => void>();
  #state: ConnectionState = { status: "closed", protocolVersion: null, messages: [] };
  #library: Library | undefined;
  #opened: { readonly client: Promise<McpClient>; readonly end: AbortController } | undefined;
  #running: Running | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(endpoint: { readonly url: URL; readonly authorization: () => string | null }) {
    this.#endpoint = endpoint;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  readonly state = (): ConnectionState => this.#state;

  /** Makes one call. Never rejects: failures are results. */
  async perform(call: ServerCall, handlers: CallHandlers, canceled: AbortSignal): Promise<CallResult> {
    clearTimeout(this.#idle);
    const started = performance.now();
    let running: Running | null = null;
    try {
      this.#library ??= await loadLibrary();
      running = { ...handlers, deadline: new this.#library.CallDeadline(callMs, canceled), failure: null };
      this.#running = running;
      return await this.#performAgain(call, running, started);
    } catch (error) {
      return this.#failed(error, running, canceled);
    } finally {
      running?.deadline.end();
      this.#running = null;
      this.#idle = setTimeout(() => void this.close(), idleMs);
    }
  }

  /** The server's suggestions for an argument; none without a connection, as typing doesn't open one. */
  async complete(
    target: CompletionTarget,
    argument: { readonly name: string; readonly value: string },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const client = await this.#opened?.client;
    return (await client?.complete(target, argument, { signal, timeoutMs: 10_000 })) ?? [];
  }

  /** Connects without a call, for completions. */
  async open(): Promise<void> {
    this.#library ??= await loadLibrary();
    await this.#connected(this.#library, new AbortController().signal);
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.close(), idleMs);
  }

  /** Ends the session, for example when a new version has gone live. The next call reconnects. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const opened = this.#opened;
    this.#opened = undefined;
    this.#set({ status: "closed" });
    const client = await opened?.client.catch(() => undefined);
    await client?.close();
    opened?.end.abort();
  }

  /** The same, but not while a call uses the session. */
  closeWhenIdle(): void {
    if (!this.#running) void this.close();
  }

  clearMessages(): void {
    this.#set({ messages: [] });
  }

  async #performAgain(call: ServerCall, running: Running, started: number): Promise<CallResult> {
    const library = this.#library as Library;
    const wasOpen = this.#opened !== undefined;
    const client = await this.#connected(library, running.deadline.signal);
    const connectMs = wasOpen ? 0 : performance.now() - started;
    try {
      return { ok: true, ...(await this.#send(client, call, running)), connectMs };
    } catch (error) {
      // The server doesn't know the session (a new version, or it slept), so it didn't run the call.
      const isForgotten = error instanceof library.McpClientError && error.code === "not_found";
      if (!wasOpen || !isForgotten) throw error;
      void this.close();
      running.failure = null;
      return this.#performAgain(call, running, performance.now());
    }
  }

  #send(client: McpClient, call: ServerCall, { deadline, onProgress }: Running) {
    const options = {
      signal: deadline.signal,
      // `deadline` holds the limit.
      timeoutMs: 2 ** 31 - 1,
      onProgress: ({ progress, total, message }: { progress: number; total?: number; message?: string }) =>
        onProgress({ progress, total: total ?? null, message: message ?? null }),
    };
    if (call.kind === "tool") return client.callTool(call.name, call.arguments, options);
    if (call.kind === "resource") return client.readResource(call.uri, options);
    return client.getPrompt(call.name, call.arguments, options);
  }

  async #connected(library: Library, signal: AbortSignal): Promise<McpClient> {
    const opened = this.#opened ?? this.#connect(library);
    if (this.#state.status === "open") return opened.client;
    const stop = () => opened.end.abort();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await opened.client;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #connect({ openWebClient }: Library) {
    const end = new AbortController();
    this.#set({ status: "connecting" });
    const client = openWebClient(
      {
        url: this.#endpoint.url,
        fetch: relayFetch({
          authorization: this.#endpoint.authorization,
          onAnswer: (answer) => this.#onAnswer(answer),
        }),
      },
      {
        clientName,
        maxBytes,
        timeoutMs: callMs,
        signal: end.signal,
        onElicit: (asked) => this.#asked((call) => call.onElicit(asked), { action: "cancel", content: null }),
        onSample: (asked) => this.#asked((call) => call.onSample(asked), null),
        onLog: (message) => this.#running?.onLog(message),
        onMessage: (message, direction) =>
          this.#set({ messages: withMessage(this.#state.messages, { message, direction, time: Date.now() }) }),
      },
    );
    const opened = { client, end };
    this.#opened = opened;
    client.then(
      ({ protocolVersion }) => this.#opened === opened && this.#set({ status: "open", protocolVersion }),
      // A failed attempt is not kept: a later call may find the server running.
      () => this.#opened === opened && void this.close(),
    );
    return opened;
  }

  /** Pauses the call's deadline while the person answers. */
  #asked<Answer>(ask: (call: Running) => Promise<Answer>, nobody: Answer): Promise<Answer> {
    const call = this.#running;
    return call ? call.deadline.pausedFor(() => ask(call)) : Promise.resolve(nobody);
  }

  #onAnswer({ requestId, isCall, failure }: AnswerInfo): void {
    const call = this.#running;
    if (!call) return;
    if (isCall && requestId !== null) call.onRequest(requestId);
    call.failure = failure;
  }

  #failed(error: unknown, running: Running | null, canceled: AbortSignal): CallResult {
    const failed = (code: string, message: string, rpcCode: number | null = null) =>
      ({ ok: false, code, rpcCode, message }) as const;
    if (canceled.aborted) return failed(canceledCode, "You canceled the call.");
    if (running?.deadline.signal.aborted)
      return failed("timeout", "The call took longer than 5 minutes and was stopped.");
    const failure = running?.failure ?? null;
    if (failure?.isOurs) return failed("refused", failure.message);
    if (this.#library && error instanceof this.#library.McpClientError)
      return failed(error.code, failure?.message ?? error.message, error.rpcCode);
    return failed("failed", "The page couldn't make the call. Check your connection and try again.");
  }

  #set(change: Partial<ConnectionState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** The address under which pages of a project reach the server of a branch; null: production. */
export function relayUrl(key: ProjectKey, branchId: string | null): URL {
  const path = `/api/projects/${encodeURIComponent(key.orgSlug)}/${encodeURIComponent(key.projectName)}/mcp`;
  const url = new URL(path, location.origin);
  if (branchId !== null) url.searchParams.set("branchId", branchId);
  return url;
}
