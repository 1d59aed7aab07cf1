import { randomUUID } from "node:crypto";
import type { BuildWarning, Layers } from "@towpath/core/build/contract";
import {
  McpClientError,
  type McpTarget,
  type ReadManifest,
  type ReadManifestOptions,
  readManifest,
} from "@towpath/mcp/client";
import type { Manifest } from "@towpath/mcp/manifest";
import { type Endpoint, type Exit, inspectPath, type RuntimeDriver, type StartResult } from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import type { BuildRequest } from "../contract.ts";
import { counted } from "../counted.ts";
import { diagnoseServerExit } from "../diagnose/exit.ts";
import { diagnoseHarness } from "../diagnose/harness.ts";
import { diagnoseProtocol, diagnoseStartTimeout } from "../diagnose/protocol.ts";
import { BuildFailure } from "../failure.ts";
import type { Plan } from "../plan/index.ts";
import { type Transcript, transcript } from "./transcript.ts";
import { listsNotRead, manifestWarnings, signInUnreachable } from "./warnings.ts";

export type InspectInput = {
  readonly request: BuildRequest;
  readonly plan: Plan;
  readonly layers: Layers;
  readonly limits: BuildLimits;
  readonly driver: RuntimeDriver;
  readonly signal: AbortSignal;
};

const graceMs = 2_000;

export type Inspection = {
  /** Null when the server checks sign-ins itself and its lists can't be read. */
  readonly manifest: Manifest | null;
  readonly warnings: readonly BuildWarning[];
};

/**
 * Starts the server from its layers as it will run, with its own environment, and has a real MCP handshake with it
 * (BLD-6). The server is stopped in any case.
 * @throws BuildFailure with phase `inspect`
 */
export async function inspectServer(input: InspectInput): Promise<Inspection> {
  const { request, limits, plan } = input;
  const said = transcript(request.log);
  const started = await start(input, said);
  if (!started.ok) throw startFailure(started, input, said);
  const { handle, startMs } = started;
  request.log("inspect", "step", `Server: answers after ${Math.round(startMs)} ms.`);
  // A server that ends is not waited for until the handshake times out.
  const ended = new AbortController();
  let exit: Exit | null = null;
  void handle.exited.then((how) => {
    exit = how;
    ended.abort();
  });
  const timeoutMs = limits.handshakeMs;
  try {
    const signal = AbortSignal.any([input.signal, ended.signal]);
    const inspection = await inspect(input, handle.endpoint, { timeoutMs, signal });
    if (inspection.manifest !== null) request.log("inspect", "step", summary(inspection.manifest));
    return inspection;
  } catch (error) {
    input.signal.throwIfAborted();
    // The connection breaks a moment before the end of the process is known.
    await Promise.race([handle.exited, new Promise((resolve) => setTimeout(resolve, 500))]);
    if (exit !== null) {
      const end = { exit, lastLines: said.lastLines(), entrypoint: plan.entrypoint };
      throw new BuildFailure(diagnoseServerExit(end, limits), error);
    }
    throw new BuildFailure(
      diagnoseProtocol(error as McpClientError, plan.entryFile, timeoutMs, said.lastLines()),
      error,
    );
  } finally {
    // Not waited for: the manifest is there, and a server takes up to a second to say goodbye. The driver ends it in
    // any case when it is closed.
    void handle.stop(graceMs).catch(() => {});
  }
}

/**
 * Reads the server's manifest. One that answers 401 or 403 is alive and checks sign-ins itself; its lists are then read
 * inside its process, behind that check.
 */
async function inspect(input: InspectInput, endpoint: Endpoint, options: ReadManifestOptions): Promise<Inspection> {
  const { request, plan } = input;
  try {
    return inspectionOf(await readManifest(target(endpoint), options), plan);
  } catch (error) {
    if (!(error instanceof McpClientError) || !refusals.has(error.code)) throw error;
    request.log(
      "inspect",
      "step",
      `${error.message} It checks sign-ins itself, so its lists are read inside its process.`,
    );
  }
  const inside = await inspectInside(input, endpoint, options);
  if (request.authMode !== "towpath-cloud") return inside;
  return { ...inside, warnings: [signInUnreachable, ...inside.warnings] };
}

/** What the server offers, asked inside its process, past its own sign-in. */
async function inspectInside(
  { plan }: InspectInput,
  endpoint: Endpoint,
  options: ReadManifestOptions,
): Promise<Inspection> {
  try {
    return inspectionOf(await readManifest(target(endpoint, inspectPath), options), plan);
  } catch (error) {
    if (!(error instanceof McpClientError) || options.signal?.aborted) throw error;
    const reason = error.code === "not_found" ? "no MCP server object was found." : error.message;
    return { manifest: null, warnings: [listsNotRead(reason, plan.entryFile)] };
  }
}

const target = (endpoint: Endpoint, path = "/mcp"): McpTarget =>
  endpoint.kind === "unix"
    ? { socketPath: endpoint.path, path }
    : { url: new URL(path, `http://${endpoint.host}:${endpoint.port}`).href };

const inspectionOf = (read: ReadManifest, plan: Plan): Inspection => ({
  manifest: read.manifest,
  warnings: manifestWarnings(read, plan.entryFile),
});

const refusals: ReadonlySet<McpClientError["code"]> = new Set(["unauthorized", "forbidden"]);

/** The driver's start cannot be taken back: a canceled build goes on at once and the server is stopped behind it. */
async function start(input: InspectInput, said: Transcript): Promise<StartResult> {
  const { request, plan, layers, limits, driver, signal } = input;
  signal.throwIfAborted();
  const server = {
    layers: { dependencies: layers.dependencies, code: layers.code },
    pythonVersion: layers.pythonVersion,
    entrypoint: plan.entrypoint,
    environment: request.environment,
    limits: limits.server,
    network: "internet",
    inspectable: true,
  } as const;
  const starting = driver.start({ instanceId: randomUUID(), server, startTimeoutMs: limits.startMs }, said.line);
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

function startFailure(
  result: Extract<StartResult, { ok: false }>,
  input: InspectInput,
  said: Transcript,
): BuildFailure {
  const { plan, limits } = input;
  if (result.status !== null) return new BuildFailure(diagnoseHarness(result.status, plan));
  const lastLines = said.lastLines();
  if (result.cause === "timeout") {
    return new BuildFailure(diagnoseStartTimeout(plan.entryFile, limits.startMs, lastLines));
  }
  return new BuildFailure(diagnoseServerExit({ exit: result.exit, lastLines, entrypoint: plan.entrypoint }, limits));
}

function summary({ server, protocolVersion, tools, resources, templates, prompts }: Manifest): string {
  const parts = [
    counted(tools.length, "tool"),
    counted(resources.length, "resource"),
    counted(templates.length, "template"),
    counted(prompts.length, "prompt"),
  ];
  return `MCP ${protocolVersion}: ${server.name} ${server.version} has ${parts.join(", ")}.`;
}
