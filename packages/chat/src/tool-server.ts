import { AsyncLocalStorage } from "node:async_hooks";
import {
  CallDeadline,
  type Elicitation,
  type ElicitationAnswer,
  type McpClient,
  openClient,
} from "@towpath/mcp/client";

/** The client's name in the request log. */
const chatClientName = "Towpath chat";

const connectMs = 120_000;
const callMs = 120_000;
const maxBytes = 64 * 1024 * 1024;
/** Tokens of callers live five minutes. */
const tokenMs = 4 * 60_000;

export type ServerAddress = {
  readonly url: string;
  /** The header of the person who asks, with a fresh token for each request; null where the server takes none. */
  readonly authorization: () => Promise<string | null>;
};

export type ToolOutcome = {
  readonly result: Readonly<Record<string, unknown>>;
  readonly durationMs: number;
};

/** A running call. */
type Call = {
  readonly deadline: CallDeadline;
  readonly onElicit: (asked: Elicitation) => Promise<ElicitationAnswer>;
  readonly onRequest: (requestId: string) => void;
};

/** The server that a turn talks to, connected at the first call: one session for all calls of the turn. */
export class ToolServer {
  readonly #address: ServerAddress;
  readonly #signal: AbortSignal;
  /** Which call a request or a question of the server belongs to. */
  readonly #current = new AsyncLocalStorage<Call>();
  readonly #running = new Set<Call>();
  #client: Promise<McpClient> | undefined;
  #token: { readonly header: string | null; readonly readAt: number } | undefined;

  constructor(address: ServerAddress, signal: AbortSignal) {
    this.#address = address;
    this.#signal = signal;
  }

  /**
   * Calls a tool. `onRequest` gets the id of the row in the request log. The time limit pauses while `onElicit` asks.
   *
   * @throws McpClientError
   */
  callTool(
    tool: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
    handlers: Pick<Call, "onElicit" | "onRequest">,
  ): Promise<ToolOutcome> {
    return this.#perform(handlers, (client, signal) =>
      client.callTool(tool.name, tool.arguments, { signal, timeoutMs: forever }),
    );
  }

  /** Reads a resource. @throws McpClientError */
  readResource(uri: string): Promise<ToolOutcome> {
    return this.#perform(withoutQuestions, (client, signal) =>
      client.readResource(uri, { signal, timeoutMs: forever }),
    );
  }

  /** Gets a prompt. @throws McpClientError */
  getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<ToolOutcome> {
    return this.#perform(withoutQuestions, (client, signal) =>
      client.getPrompt(name, args, { signal, timeoutMs: forever }),
    );
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }

  async #perform(
    handlers: Pick<Call, "onElicit" | "onRequest">,
    work: (client: McpClient, signal: AbortSignal) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const client = await this.#connected();
    const call = { ...handlers, deadline: new CallDeadline(callMs, this.#signal) };
    this.#running.add(call);
    try {
      return await this.#current.run(call, () => work(client, call.deadline.signal));
    } finally {
      call.deadline.end();
      this.#running.delete(call);
    }
  }

  #connected(): Promise<McpClient> {
    // A failed attempt is not kept: a later call may find the server running.
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  #connect(): Promise<McpClient> {
    const { url } = this.#address;
    return openClient(
      { url, fetch: (input, init) => this.#fetch(input, init) },
      {
        clientName: chatClientName,
        timeoutMs: connectMs,
        maxBytes,
        signal: this.#signal,
        onElicit: async (asked) => {
          // A 2025 server may ask on its standing stream, which belongs to no call.
          const call = this.#current.getStore() ?? [...this.#running].at(-1);
          if (!call) return { action: "cancel", content: null };
          return call.deadline.pausedFor(() => call.onElicit(asked));
        },
      },
    );
  }

  async #fetch(input: string | URL, init: RequestInit | undefined): Promise<Response> {
    const headers = new Headers(init?.headers);
    const authorization = await this.#authorization();
    if (authorization !== null) headers.set("authorization", authorization);
    const response = await fetch(input, { ...init, headers });
    const requestId = response.headers.get("towpath-request-id");
    if (
      requestId !== null &&
      init?.method === "POST" &&
      /"method":"(tools|resources|prompts)\//.test(String(init.body))
    )
      this.#current.getStore()?.onRequest(requestId);
    return response;
  }

  async #authorization(): Promise<string | null> {
    if (this.#token === undefined || performance.now() - this.#token.readAt > tokenMs) {
      this.#token = { header: await this.#address.authorization(), readAt: performance.now() };
    }
    return this.#token.header;
  }
}

/** `CallDeadline` holds the limit. */
const forever = 2 ** 31 - 1;

const withoutQuestions: Pick<Call, "onElicit" | "onRequest"> = {
  onElicit: async () => ({ action: "cancel", content: null }),
  onRequest: () => {},
};
