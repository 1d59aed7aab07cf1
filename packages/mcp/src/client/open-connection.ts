import {
  Client,
  type CompleteRequest,
  type JSONRPCMessage,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  LOG_LEVEL_META_KEY,
  type ProgressCallback,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { isModern } from "../manifest/index.ts";
import { type AskedHandlers, askedCapabilities, handleAsked } from "./asked.ts";
import type { Connection } from "./connection.ts";
import { type Guard, guardWith } from "./guard.ts";

// Also for browsers: nothing of Node here.

export type OpenOptions = AskedHandlers & {
  /** For the handshake, and for each call without its own time-out. Default 30,000. */
  readonly timeoutMs?: number;
  /** Aborts the connection and all pending calls. */
  readonly signal?: AbortSignal;
  /** Maximum bytes of all responses of the connection. Default 32 MiB. */
  readonly maxBytes?: number;
  /** Maximum pages per list. Default 100. */
  readonly maxPages?: number;
  /** The client's name. Default `towpath`. */
  readonly clientName?: string;
  /** Sees each JSON-RPC message as it is sent and received. */
  readonly onMessage?: (message: JSONRPCMessage, direction: "sent" | "received") => void;
};

type CallOptions = {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Requests progress from the server and receives it. */
  readonly onProgress?: ProgressCallback;
};

/** The completed argument of a prompt, by the prompt's name, or variable of a resource template, by its URI. */
export type CompletionTarget = { readonly prompt: string } | { readonly template: string };

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
  /** The server's suggestions for an argument with this beginning; none if it has none. */
  complete(
    target: CompletionTarget,
    argument: { readonly name: string; readonly value: string },
    options?: CallOptions,
  ): Promise<readonly string[]>;
  /** Ends a legacy session too. Idempotent, never throws. */
  close(): Promise<void>;
};

/** The connection with the library's client, for reading lists. Not exported from the package. */
export type OpenConnection = McpClient & {
  readonly client: Client;
  readonly guard: Guard;
};

const defaultTimeoutMs = 30_000;
const goodbyeMs = 1_000;

/**
 * Schemas come from tenants: compiling one can use up a CPU (patterns) and gains us nothing, so none is compiled.
 * Results are shown unvalidated.
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
 *
 * @throws McpClientError
 */
export async function openConnection(
  connection: Connection,
  headers: Readonly<Record<string, string>>,
  options: OpenOptions,
): Promise<OpenConnection> {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const client = clientOf(options);
  const transport = new StreamableHTTPClientTransport(connection.url, {
    fetch: connection.fetch,
    requestInit: { headers: { ...headers } },
    // Report a dead server at once; the caller decides whether to reconnect.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  if (options.onMessage) tap(transport, options.onMessage);
  const guard = guardWith([connection.overflow, ...(options.signal === undefined ? [] : [options.signal])], timeoutMs);
  const close = closer(client, transport, connection.close);
  try {
    await guard((signal) => client.connect(transport, { signal, timeout: timeoutMs }));
    await guard((signal) => askForLogs(client, options, signal));
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

function clientOf(options: OpenOptions): Client {
  const { clientName = "towpath", maxPages = 100, onElicit, onSample } = options;
  const client = new Client(
    { name: clientName, version: "0.1.0" },
    {
      versionNegotiation: { mode: "auto" },
      jsonSchemaValidator: noValidation,
      listMaxPages: maxPages,
      inputRequired: { autoFulfill: onElicit !== undefined || onSample !== undefined },
      capabilities: askedCapabilities(options),
    },
  );
  handleAsked(client, options);
  return client;
}

/** Sets the level of logs once for servers before 2026-07-28; later ones get it with each call. */
async function askForLogs(client: Client, { onLog }: OpenOptions, signal: AbortSignal): Promise<void> {
  if (!onLog || isModern(client.getNegotiatedProtocolVersion() ?? "") || !client.getServerCapabilities()?.logging)
    return;
  // Some servers announce logging but refuse this.
  await client.setLoggingLevel("debug", { signal }).catch(() => {});
}

/** Also passes each message to `onMessage`. The library sets `onmessage` when it connects, and when it negotiates. */
function tap(transport: StreamableHTTPClientTransport, onMessage: NonNullable<OpenOptions["onMessage"]>): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    for (const each of Array.isArray(message) ? message : [message]) onMessage(each, "sent");
    return send(message, options);
  };
  let receive = transport.onmessage;
  Object.defineProperty(transport, "onmessage", {
    get: () =>
      receive &&
      ((...parts: Parameters<NonNullable<typeof receive>>) => {
        onMessage(parts[0], "received");
        receive?.(...parts);
      }),
    set: (next: typeof receive) => {
      receive = next;
    },
  });
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

/** Without the library's own progress of the rounds of questions (2026-07-28, `input_required`). */
const ofServer =
  (onProgress: ProgressCallback): ProgressCallback =>
  (progress) => {
    if (!progress.message?.startsWith("Fulfilling input required by")) onProgress(progress);
  };

function calls(
  client: Client,
  guard: Guard,
  options: OpenOptions,
  protocolVersion: string,
): Pick<McpClient, "callTool" | "readResource" | "getPrompt" | "complete"> {
  const timed = async (run: (signal: AbortSignal) => Promise<object>, call?: CallOptions): Promise<CallOutcome> => {
    const start = performance.now();
    const result = await guard(run, call);
    return { result: { ...result }, durationMs: performance.now() - start, protocolVersion };
  };
  const allowInputRequired = !options.onElicit && !options.onSample;
  const more = (signal: AbortSignal, call?: CallOptions) => ({
    // `guard` holds the deadline; the library's own must not fire before it.
    signal,
    timeout: 2 ** 31 - 1,
    allowInputRequired,
    ...(call?.onProgress && { onprogress: ofServer(call.onProgress) }),
  });
  const meta =
    options.onLog && isModern(client.getNegotiatedProtocolVersion() ?? "")
      ? { _meta: { [LOG_LEVEL_META_KEY]: "debug" } }
      : {};
  return {
    callTool: (name, args, call) =>
      timed((signal) => client.callTool({ name, arguments: { ...args }, ...meta }, more(signal, call)), call),
    readResource: (uri, call) =>
      timed((signal) => client.readResource({ uri, ...meta }, { ...more(signal, call), cacheMode: "bypass" }), call),
    getPrompt: (name, args, call) =>
      timed((signal) => client.getPrompt({ name, arguments: { ...args }, ...meta }, more(signal, call)), call),
    complete: async (target, argument, call) => {
      if (!client.getServerCapabilities()?.completions) return [];
      const ref: CompleteRequest["params"]["ref"] =
        "prompt" in target
          ? { type: "ref/prompt", name: target.prompt }
          : { type: "ref/resource", uri: target.template };
      const { completion } = await guard((signal) => client.complete({ ref, argument }, { signal }), call);
      return completion.values;
    },
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([
      transport.terminateSession().catch(() => {}),
      new Promise((resolve) => {
        timer = setTimeout(resolve, goodbyeMs);
      }),
    ]);
    clearTimeout(timer);
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    await closeNetwork().catch(() => {});
  };
  return () => {
    closed ??= close();
    return closed;
  };
}
