import { McpClientError } from "@towpath/mcp/client";
import type { LateServer, StartedServer } from "../contract.ts";
import { type Inspected, type InspectInput, inspectRunning, logManifest, logStart } from "./inspect.ts";
import { startWarnings } from "./warnings.ts";

/** Extra time for a start, which may take three limits on a busy host: on a full one it waits for a place. */
const placeWithinMs = 20_000;
const listWithinMs = 5_000;
const maxLastLines = 30;

type InspectedInPlace = {
  /** Null if the server can't be inspected there. */
  readonly inspected: Inspected | null;
  /** Stops a server that still runs there, so that a rollout finds it ready; null if none does. */
  readonly withdraw: (() => Promise<void>) | null;
};

const nothing: InspectedInPlace = { inspected: null, withdraw: null };

/**
 * Inspects a server where it will run. `inspectServer` finds out more if the server doesn't start, answer or list
 * there, or does its own sign-in; then it keeps running. But not for a server that isn't ready there within the limit
 * for a start: another start would take as long.
 */
export async function inspectInPlace(input: Omit<InspectInput, "driver">): Promise<InspectedInPlace> {
  const { request, server } = input;
  const started = await startInTime(input);
  if (started === null) return nothing;
  if (started.endpoint === null) {
    for (const line of started.output) request.log("inspect", "output", line);
    const lastLines = started.output.slice(-maxLastLines);
    const failure = { kind: "late", server, lastLines, late: started.late } as const;
    return { inspected: { ok: false, failure }, withdraw: null };
  }
  const { withdraw } = started;
  try {
    const inspection = await inspectRunning({ ...input, limits: limitsFor(started, input) }, started.endpoint);
    if (inspection === null) return { inspected: null, withdraw };
    if (!inspection.warnings.some(({ code }) => code === "list_failed")) {
      for (const line of started.output) request.log("inspect", "output", line);
      logStart(request.log, started.startMs, ", where it will run");
      if (inspection.manifest !== null) logManifest(request.log, inspection.manifest);
      const warnings = [...startWarnings(started, inspection.manifest), ...inspection.warnings];
      return { inspected: { ok: true, inspection: { ...inspection, warnings } }, withdraw };
    }
  } catch (error) {
    // Nobody waits for the server of a canceled build.
    if (input.signal.aborted) await withdraw();
    input.signal.throwIfAborted();
    if (!(error instanceof McpClientError)) throw error;
  }
  await withdraw();
  return nothing;
}

/** A bridged program is started again for each session but the first, and can't list before it has started. */
function limitsFor({ bridge, startMs }: StartedServer, { limits }: Pick<InspectInput, "limits">) {
  const restarts = bridge === "program" ? 2 * Math.round(startMs) : 0;
  return { ...limits, handshakeMs: Math.min(limits.handshakeMs, listWithinMs) + restarts };
}

/** Null if it doesn't start there, or no place becomes free in time. */
async function startInTime(input: Omit<InspectInput, "driver">): Promise<StartedServer | LateServer | null> {
  const { request, server, layers, limits, signal } = input;
  if (request.startInPlace === null) return null;
  request.log("inspect", "step", "Server: starting where it will run.");
  const late = AbortSignal.timeout(3 * limits.startMs + placeWithinMs);
  try {
    return await request.startInPlace({ layers, program: server.program }, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return null;
    throw error;
  }
}
