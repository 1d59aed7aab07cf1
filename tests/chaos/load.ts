import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export type LoadTotals = {
  readonly calls: number;
  /** Answered correctly. */
  readonly answered: number;
  readonly failed: number;
  /** Wall time of each answered call, milliseconds. */
  readonly durationsMs: readonly number[];
  /** The most frequent errors with their counts. */
  readonly errors: ReadonlyMap<string, number>;
  /** The failed calls. A call whose stream broke ends only with its client's timeout. */
  readonly failures: readonly (Interval & { readonly text: string })[];
};

/** By performance.now(). */
export type Interval = { readonly from: number; readonly to: number };

export type Load = {
  /** As `clientInfo.name` in every call: its rows in the request log are found by it. */
  readonly clientName: string;
  /** Ends running calls and returns the totals. */
  stop(): Promise<LoadTotals>;
};

export type LoadOptions = {
  readonly clientName: string;
  /** Where clients call; they spread over these. */
  readonly targets: readonly Target[];
  /** Clients of each era. */
  readonly clientsPerEra: number;
  /** Between two calls of a client. */
  readonly pauseMs: number;
  /** Timeout of a call: a client doesn't notice a broken stream earlier. Default: a minute. */
  readonly callTimeoutMs?: number;
};

/** An MCP endpoint with the tools `echo` and `watch`. */
export type Target = {
  readonly url: string;
  /** Credentials, as they are now; absent: none. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** The tool to call: `watch` streams its answer for two seconds. Default: `echo`. */
  readonly tool?: "echo" | "watch";
};

type Caller = { call(text: string): Promise<string>; close(): Promise<void> };

/** Longer than the gateway holds a request for a starting server. */
const defaultTimeoutMs = 65_000;

/** Adds a target's credentials to each request, as they are then. */
const fetchFor =
  ({ headers }: Target) =>
  (url: string | URL, init: RequestInit = {}) => {
    const all = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers?.() ?? {})) all.set(name, value);
    return fetch(url, { ...init, headers: all });
  };

async function openModern(target: Target, name: string, timeout: number): Promise<Caller> {
  const client = new Client({ name, version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(target.url), { fetch: fetchFor(target) }));
  return {
    async call(text) {
      const options = { timeout, onprogress: () => {} };
      return textOf((await client.callTool({ name: target.tool ?? "echo", arguments: { text } }, options)).content);
    },
    close: () => client.close(),
  };
}

async function openLegacy(target: Target, name: string, timeout: number): Promise<Caller> {
  const client = new LegacyClient({ name, version: "1.0.0" });
  await client.connect(new LegacyTransport(new URL(target.url), { fetch: fetchFor(target) }));
  return {
    async call(text) {
      const params = { name: target.tool ?? "echo", arguments: { text } };
      const options = { timeout, onprogress: () => {} };
      return textOf((await client.callTool(params, undefined, options)).content);
    },
    close: () => client.close(),
  };
}

function textOf(content: unknown): string {
  const [first]: unknown[] = Array.isArray(content) ? content : [];
  return first && typeof first === "object" && "text" in first ? String(first.text) : JSON.stringify(content);
}

/** Calls tools continuously, like clients: after a failure it reconnects and continues. */
export function startLoad(options: LoadOptions): Load {
  const { clientName, targets, clientsPerEra, pauseMs, callTimeoutMs = defaultTimeoutMs } = options;
  const errors = new Map<string, number>();
  const durationsMs: number[] = [];
  const failures: (Interval & { readonly text: string })[] = [];
  let [calls, answered, isStopping, serial] = [0, 0, false, 0];
  const fail = (error: unknown) => {
    const text = (error instanceof Error ? error.message : String(error)).replaceAll(/\d{4,}/g, "…").slice(0, 120);
    errors.set(text, (errors.get(text) ?? 0) + 1);
  };

  async function callOnce(caller: Caller): Promise<boolean> {
    const text = `${clientName} ${serial++}`;
    const begun = performance.now();
    calls++;
    try {
      const answer = await caller.call(text);
      if (answer !== text) throw new Error(`another answer: ${answer}`);
      answered++;
      durationsMs.push(performance.now() - begun);
      return true;
    } catch (error) {
      fail(error);
      failures.push({ text, from: begun, to: performance.now() });
      return false;
    }
  }

  async function beOneClient(open: typeof openModern, target: Target): Promise<void> {
    let caller: Caller | null = null;
    while (!isStopping) {
      try {
        caller ??= await open(target, clientName, callTimeoutMs);
      } catch {
        // The call that made it open again has been counted.
        await sleep(pauseMs);
        continue;
      }
      if (!(await callOnce(caller))) {
        await caller.close().catch(() => {});
        caller = null;
      }
      await sleep(pauseMs);
    }
    await caller?.close().catch(() => {});
  }

  const clients = Array.from({ length: clientsPerEra }).flatMap((_, index) => {
    const target = targets[index % targets.length] ?? { url: "" };
    return [beOneClient(openModern, target), beOneClient(openLegacy, target)];
  });
  return {
    clientName,
    async stop() {
      isStopping = true;
      await Promise.all(clients);
      return { calls, answered, failed: calls - answered, durationsMs, errors, failures };
    },
  };
}
