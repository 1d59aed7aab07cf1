import {
  Client,
  type ElicitResult,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { asMcpClientError, McpClientError } from "./errors.ts";
import { connectTarget, type McpTarget } from "./target.ts";

export type OpenOptions = {
  /** For the handshake, and for each call without a time-out of its own. Default 30,000. */
  readonly timeoutMs?: number;
  /** Aborts the connection and all pending calls. */
  readonly signal?: AbortSignal;
  /** Maximum bytes of all responses of the connection. Default 32 MiB. */
  readonly maxBytes?: number;
  /** Maximum pages per list. Default 100. */
  readonly maxPages?: number;
  /** What the client calls itself. Default `towpath`. */
  readonly clientName?: string;
  /**
   * Answers what a tool asks for while it runs, in both eras. Without it servers are told that nobody can answer, and a
   * call that needs an answer all the same returns `input_required`. It runs in the asynchronous context of its call.
   */
  readonly onElicit?: (asked: Elicitation) => Promise<ElicitationAnswer>;
};

/** A question of a server to the person: a form to fill in, or with `url` a page to open. */
export type Elicitation = {
  readonly message: string;
  /** JSON schema of the form's fields; null for a page. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly url: string | null;
};

export type ElicitationAnswer = {
  readonly action: "accept" | "decline" | "cancel";
  readonly content: Readonly<Record<string, unknown>> | null;
};

type CallOptions = { readonly timeoutMs?: number; readonly signal?: AbortSignal };

/** `result` is the server's, not validated against the tool's schema. */
type CallOutcome = {
  readonly result: Readonly<Record<string, unknown>>;
  readonly durationMs: number;
  readonly protocolVersion: string;
};

export type McpClient = {
  /** The negotiated revision, e.g. `2026-07-28`. */
  readonly protocolVersion: string;
  readonly server: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | null;
  callTool(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<CallOutcome>;
  readResource(uri: string, options?: CallOptions): Promise<CallOutcome>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options?: CallOptions): Promise<CallOutcome>;
  /** Ends a legacy session too. Idempotent, never throws. */
  close(): Promise<void>;
};

/** The connection with the library's client, for reading lists. Not exported from the package. */
export type OpenConnection = McpClient & {
  readonly client: Client;
  readonly guard: <T>(run: (signal: AbortSignal) => Promise<T>, options?: CallOptions) => Promise<T>;
};

const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 32 * 1024 * 1024;
const goodbyeMs = 1_000;

/**
 * Schemas come from tenants: compiling one can use up a CPU (patterns) and gains us nothing, so none is compiled.
 * Results are shown as they are.
 */
const noValidation: jsonSchemaValidator = {
  getValidator<T>() {
    return (input: unknown): JsonSchemaValidatorResult<T> => ({
      valid: true,
      data: input as T,
      errorMessage: undefined,
    });
  },
};

/**
 * Connects to an MCP endpoint of either era: asks `server/discover` first, falls back to `initialize`
 * (2026-07-28, "Version negotiation").
 * @throws McpClientError
 */
export async function openClient(target: McpTarget, options: OpenOptions = {}): Promise<McpClient> {
  const { client: _client, guard: _guard, ...publicPart } = await openConnection(target, options);
  return publicPart;
}

/** @throws McpClientError */
export async function openConnection(target: McpTarget, options: OpenOptions): Promise<OpenConnection> {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const connection = connectTarget(target, options.maxBytes ?? defaultMaxBytes);
  const client = clientOf(options);
  const transport = new StreamableHTTPClientTransport(connection.url, {
    fetch: connection.fetch,
    requestInit: { headers: { ...target.headers } },
    // Report a dead server at once; the caller decides whether to reconnect.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const guard = guardWith([connection.overflow, ...(options.signal === undefined ? [] : [options.signal])], timeoutMs);
  const close = closer(client, transport, connection.close);
  try {
    await guard((signal) => client.connect(transport, { signal, timeout: timeoutMs }));
  } catch (error) {
    await close();
    throw error;
  }
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? "unknown";
  return {
    client,
    guard,
    protocolVersion,
    ...identity(client),
    ...calls(client, guard, options, protocolVersion),
    close,
  };
}

function clientOf({ clientName = "towpath", maxPages = 100, onElicit }: OpenOptions): Client {
  const client = new Client(
    { name: clientName, version: "0.1.0" },
    {
      versionNegotiation: { mode: "auto" },
      jsonSchemaValidator: noValidation,
      listMaxPages: maxPages,
      inputRequired: { autoFulfill: onElicit !== undefined },
      ...(onElicit && { capabilities: { elicitation: { form: {}, url: {} } } }),
    },
  );
  if (onElicit) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const asked =
        params.mode === "url"
          ? { message: params.message, schema: null, url: params.url }
          : { message: params.message, schema: { ...params.requestedSchema }, url: null };
      const { action, content } = await onElicit(asked);
      return { action, ...(content && { content: content as NonNullable<ElicitResult["content"]> }) };
    });
  }
  return client;
}

function identity(client: Client): Pick<McpClient, "server" | "instructions"> {
  const implementation = client.getServerVersion();
  const title = implementation?.title;
  return {
    // 2026-07-28 lets a server stay anonymous.
    server: {
      name: implementation?.name ?? "unnamed",
      version: implementation?.version ?? "unknown",
      ...(title === undefined ? {} : { title }),
    },
    instructions: client.getInstructions() ?? null,
  };
}

function calls(
  client: Client,
  guard: OpenConnection["guard"],
  options: OpenOptions,
  protocolVersion: string,
): Pick<McpClient, "callTool" | "readResource" | "getPrompt"> {
  const timed = async (run: (signal: AbortSignal) => Promise<object>, options?: CallOptions): Promise<CallOutcome> => {
    const start = performance.now();
    const result = await guard(run, options);
    return { result: { ...result }, durationMs: performance.now() - start, protocolVersion };
  };
  // `guard` holds the deadline; the library's own must not fire before it.
  const more = (signal: AbortSignal) => ({ signal, timeout: 2 ** 31 - 1, allowInputRequired: !options.onElicit });
  return {
    callTool: (name, args, options) =>
      timed((signal) => client.callTool({ name, arguments: { ...args } }, more(signal)), options),
    readResource: (uri, options) =>
      timed((signal) => client.readResource({ uri }, { ...more(signal), cacheMode: "bypass" }), options),
    getPrompt: (name, args, options) =>
      timed((signal) => client.getPrompt({ name, arguments: { ...args } }, more(signal)), options),
  };
}

/** Runs with a deadline and all signals; the error says which of them ended it. */
function guardWith(signals: readonly AbortSignal[], defaultMs: number): OpenConnection["guard"] {
  return async (run, options = {}) => {
    const deadline = AbortSignal.timeout(Math.ceil(options.timeoutMs ?? defaultMs));
    const callers = [...signals, ...(options.signal === undefined ? [] : [options.signal])];
    const all = AbortSignal.any([...callers, deadline]);
    const ended = new Promise<never>((_resolve, reject) => {
      all.addEventListener("abort", () => reject(all.reason), { once: true });
    });
    // Usually loses the race; its later rejection is ignored.
    ended.catch(() => {});
    try {
      all.throwIfAborted();
      return await Promise.race([run(all), ended]);
    } catch (error) {
      const overflow = callers.find((signal) => signal.reason instanceof McpClientError);
      if (overflow !== undefined) throw overflow.reason;
      if (callers.some((signal) => signal.aborted)) {
        throw new McpClientError("aborted", "The request was canceled.", { cause: error });
      }
      if (deadline.aborted) {
        throw new McpClientError("timeout", "The server did not answer in time.", { cause: error });
      }
      throw asMcpClientError(error);
    }
  };
}

function closer(
  client: Client,
  transport: StreamableHTTPClientTransport,
  closeNetwork: () => Promise<void>,
): () => Promise<void> {
  let closed: Promise<void> | null = null;
  const close = async () => {
    // Legacy servers keep a session in memory until it is deleted; don't wait for one that hangs.
    await Promise.race([
      transport.terminateSession().catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, goodbyeMs).unref()),
    ]);
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    await closeNetwork().catch(() => {});
  };
  return () => {
    closed ??= close();
    return closed;
  };
}
