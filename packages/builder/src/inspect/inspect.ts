import { randomUUID } from "node:crypto";
import type { BuildWarning, Layers } from "@towpath/core/delivery/build/contract";
import {
  McpClientError,
  type McpTarget,
  type ReadManifest,
  type ReadManifestOptions,
  type Recording,
  readManifest,
  recordAnswers,
} from "@towpath/mcp/client";
import type { Manifest, ServerIcon } from "@towpath/mcp/manifest";
import {
  dialTarget,
  type Exit,
  inspectPath,
  type LateStart,
  type RuntimeDriver,
  type ServerEndpoint,
  type StartResult,
  secretHeader,
} from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import type { BuildLogSink, BuildRequest } from "../contract.ts";
import { countOf, type HarnessFailure } from "../failure.ts";
import type { Plan } from "../plan/plan.ts";
import { type Transcript, transcript } from "./transcript.ts";
import { listsNotRead, manifestWarnings, startWarnings } from "./warnings.ts";

/** The plan's facts about the server. `dependencies`: null for layers that were taken over, which have no plan. */
export type InspectedServer = Pick<Plan, "program" | "entryFile"> & {
  readonly dependencies: Plan["dependencies"] | null;
};

/** The known facts about a server whose layers are taken over. */
export const serverTakenOver = ({ entrypoint, ...request }: BuildRequest): InspectedServer => ({
  program: { entrypoint, arguments: [...request.arguments] },
  entryFile: entrypoint.split(":")[0] ?? entrypoint,
  dependencies: null,
});

export type InspectInput = {
  readonly request: BuildRequest;
  readonly server: InspectedServer;
  readonly layers: Layers;
  readonly limits: BuildLimits;
  readonly driver: RuntimeDriver;
  readonly signal: AbortSignal;
};

const graceMs = 2_000;

export type Inspection = {
  /** Null if the server does its own sign-in and its lists can't be read. */
  readonly manifest: Manifest | null;
  /** That it names in its handshake. */
  readonly icons: readonly ServerIcon[];
  /** Answers for gateways while the server is asleep; null if they can't be recorded. */
  readonly recording: Recording | null;
  readonly warnings: readonly BuildWarning[];
  /** Whether the server refused a caller without credentials. */
  readonly ownSignIn: boolean;
};

/** Observations of a server that can't be inspected, for `diagnose`. */
export type ServerFailure = {
  readonly server: InspectedServer;
  /** Its last output. */
  readonly lastLines: readonly string[];
} & (
  | { readonly kind: "reported"; readonly status: HarnessFailure }
  | { readonly kind: "exited"; readonly exit: Exit | null }
  /** Neither ready nor failed in time. `late`: null for a runner of an earlier version, which doesn't say. */
  | { readonly kind: "late"; readonly late: LateStart | null }
  | { readonly kind: "unanswered"; readonly error: McpClientError; readonly timeoutMs: number }
);

export type Inspected =
  | { readonly ok: true; readonly inspection: Inspection }
  | { readonly ok: false; readonly failure: ServerFailure };

/**
 * Starts the server from its layers, with its own environment, and makes a real MCP handshake (BLD-6). Always stops the
 * server.
 */
export async function inspectServer(input: InspectInput): Promise<Inspected> {
  const { request, limits, server } = input;
  const output = transcript(request.log);
  const started = await start(input, output);
  const seen = () => ({ server, lastLines: output.lastLines() });
  if (!started.ok) return { ok: false, failure: { ...seen(), ...startFailure(started) } };
  const { handle, startMs } = started;
  logStart(request.log, startMs, "");
  // If the server exits, don't wait for the handshake to time out.
  const ended = new AbortController();
  let exit: Exit | null = null;
  void handle.exited.then((how) => {
    exit = how;
    ended.abort();
  });
  // A session of a bridged program may start it once more, which counts as a start.
  const timeoutMs = limits.handshakeMs + (started.bridge === "program" ? limits.startMs : 0);
  try {
    const signal = AbortSignal.any([input.signal, ended.signal]);
    const inspection = await inspect(input, handle.endpoint, { timeoutMs, signal });
    if (inspection.manifest !== null) logManifest(request.log, inspection.manifest);
    const warnings = [...startWarnings(started, inspection.manifest), ...inspection.warnings];
    return { ok: true, inspection: { ...inspection, warnings } };
  } catch (error) {
    input.signal.throwIfAborted();
    // The connection may close a moment before the exit is known.
    await Promise.race([handle.exited, new Promise((resolve) => setTimeout(resolve, 500))]);
    if (exit !== null) return { ok: false, failure: { ...seen(), kind: "exited", exit } };
    if (!(error instanceof McpClientError)) throw error;
    return { ok: false, failure: { ...seen(), kind: "unanswered", error, timeoutMs } };
  } finally {
    // Don't wait: stopping can take a second, and closing the driver stops the rest.
    void handle.stop(graceMs).catch(() => {});
  }
}

/**
 * Inspects a running server, from layers that were inspected before with other variables. Null if it refuses a caller
 * without credentials: reading its lists inside its process needs one that was started for it.
 *
 * @throws McpClientError
 */
export async function inspectRunning(
  input: Omit<InspectInput, "driver" | "layers">,
  endpoint: ServerEndpoint,
): Promise<Inspection | null> {
  const options = { timeoutMs: input.limits.handshakeMs, signal: input.signal };
  try {
    return await inspectFromOutside(input, endpoint, options);
  } catch (error) {
    if (error instanceof McpClientError && refusals.has(error.code)) return null;
    throw error;
  }
}

async function inspectFromOutside(
  input: Pick<InspectInput, "request" | "server">,
  endpoint: ServerEndpoint,
  options: ReadManifestOptions,
): Promise<Inspection> {
  const inspected = inspectionOf(await readManifest(target(endpoint), options), input.server);
  return { ...inspected, recording: await record(input, endpoint, options), ownSignIn: false };
}

/**
 * Reads the server's manifest. A server that answers 401 or 403 works and does its own sign-in; its lists are then read
 * inside its process, bypassing the sign-in.
 */
async function inspect(
  input: InspectInput,
  endpoint: ServerEndpoint,
  options: ReadManifestOptions,
): Promise<Inspection> {
  try {
    return await inspectFromOutside(input, endpoint, options);
  } catch (error) {
    if (!(error instanceof McpClientError) || !refusals.has(error.code)) throw error;
    const text = `${error.message} The server does its own sign-in, so its lists are read inside its process.`;
    input.request.log("inspect", "step", text);
  }
  return { ...(await inspectInside(input, endpoint, options)), ownSignIn: true };
}

/** An imaginary caller, as the gateway would announce them (GW-11): lists may depend on the caller. */
const inventedCaller = {
  "towpath-actor": "user:00000000-0000-4000-8000-000000000000",
  "towpath-actor-type": "user",
  "towpath-actor-organization": "00000000-0000-4000-8000-000000000000",
  "towpath-actor-user": "00000000-0000-4000-8000-000000000000",
  "towpath-actor-role": "owner",
  "towpath-actor-email": "second-caller@towpath.invalid",
};

/** Records answers for gateways while the server is asleep (GW-12). A failure doesn't fail the build. */
async function record(
  { request }: Pick<InspectInput, "request">,
  endpoint: ServerEndpoint,
  { timeoutMs, signal }: ReadManifestOptions,
): Promise<Recording | null> {
  try {
    const options = { timeoutMs, otherCaller: inventedCaller, ...(signal && { signal }) };
    return await recordAnswers(target(endpoint), options);
  } catch (error) {
    if (!(error instanceof McpClientError) || signal?.aborted) throw error;
    request.log("inspect", "step", `Lists can't be answered while the server is asleep: ${error.message}`);
    return null;
  }
}

/** Reads the manifest inside the server's process, bypassing its sign-in. */
async function inspectInside(
  { server }: InspectInput,
  endpoint: ServerEndpoint,
  options: ReadManifestOptions,
): Promise<Offered> {
  try {
    return inspectionOf(await readManifest(target(endpoint, inspectPath), options), server);
  } catch (error) {
    if (!(error instanceof McpClientError) || options.signal?.aborted) throw error;
    const reason = error.code === "not_found" ? "no MCP server object was found." : error.message;
    return { manifest: null, icons: [], recording: null, warnings: [listsNotRead(reason, server.entryFile)] };
  }
}

function target(endpoint: ServerEndpoint, path = "/mcp"): McpTarget {
  const headers = { [secretHeader]: endpoint.secret };
  return endpoint.kind === "unix"
    ? { socketPath: endpoint.path, path, headers }
    : { url: new URL(path, dialTarget(endpoint).origin).href, headers };
}

type Offered = Omit<Inspection, "ownSignIn">;

const inspectionOf = (read: ReadManifest, server: InspectedServer): Offered => ({
  manifest: read.manifest,
  icons: read.icons,
  recording: null,
  warnings: manifestWarnings(read, server.entryFile),
});

const refusals: ReadonlySet<McpClientError["code"]> = new Set(["unauthorized", "forbidden"]);

/** A start can't be aborted: when the build is canceled, this rejects at once and the server is stopped later. */
async function start(input: InspectInput, output: Transcript): Promise<StartResult> {
  const { request, layers, limits, driver, signal } = input;
  signal.throwIfAborted();
  const server = {
    layers: { dependencies: layers.dependencies, code: layers.code },
    pythonVersion: layers.pythonVersion,
    ...input.server.program,
    environment: request.environment,
    limits: limits.server,
    network: "internet",
    inspectable: true,
  } as const;
  const starting = driver.servers.start(
    { instanceId: randomUUID(), server, startTimeoutMs: limits.startMs, buildId: request.buildId },
    output.line,
  );
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([starting, aborted.promise]);
  } catch (error) {
    void starting.then(
      (late) => (late.ok ? late.handle.stop(0) : undefined),
      () => undefined,
    );
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function startFailure(result: Extract<StartResult, { ok: false }>) {
  if (result.status !== null) return { kind: "reported", status: result.status } as const;
  if (result.cause === "timeout") return { kind: "late", late: result.late } as const;
  return { kind: "exited", exit: result.exit } as const;
}

export function logStart(log: BuildLogSink, startMs: number, where: string): void {
  log("inspect", "step", `Server: answers after ${Math.round(startMs)} ms${where}.`);
  log("inspect", "step", "Written files are lost when the server stops, except in /data if the settings keep it.");
}

export function logManifest(log: BuildLogSink, manifest: Manifest): void {
  const { server, protocolVersion, tools, resources, templates, prompts } = manifest;
  const counts: readonly (readonly [number, string])[] = [
    [tools.length, "tool"],
    [resources.length, "resource"],
    [templates.length, "template"],
    [prompts.length, "prompt"],
  ];
  const text = (shown: typeof counts) => shown.map(([count, noun]) => countOf(count, noun)).join(", ");
  log("inspect", "step", `MCP ${protocolVersion}: ${server.name} ${server.version} has ${text(counts)}.`);
  log("inspect", "result", text(counts.filter(([count]) => count > 0)) || "Answers, but offers nothing");
}
