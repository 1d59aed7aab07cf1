import { McpClientError } from "@towpath/mcp/client";
import type { StartedServer } from "../contract.ts";
import { diagnoseLateStart } from "../diagnose/late-start.ts";
import { BuildFailure } from "../failure.ts";
import { type InspectInput, type Inspection, inspectRunning, logManifest, logStart } from "./inspect.ts";
import { startWarnings } from "./warnings.ts";

/** In addition to the time for a start, which is up to three limits on a busy host: on a full one it waits for a place. */
const placeWithinMs = 20_000;
const listWithinMs = 5_000;
const maxLastLines = 30;

/** `inspection`: null where the server can't be inspected there. */
type InspectedInPlace = {
  readonly inspection: Inspection | null;
  /** Of a server that goes on running there, so that a rollout finds it ready; null when none does. */
  readonly withdraw: (() => Promise<void>) | null;
};

const nothing: InspectedInPlace = { inspection: null, withdraw: null };

/**
 * Inspects a server where it will run. Where that tells too little, `inspectServer` finds out more: the server doesn't
 * start, answer or list there, or does its own sign-in; then it goes on running.
 * @throws BuildFailure when it isn't ready there within the limit for a start: another start would take as long
 */
export async function inspectInPlace(input: Omit<InspectInput, "driver">): Promise<InspectedInPlace> {
  const { request } = input;
  const started = await startInTime(input);
  if (started === null) return nothing;
  const { withdraw } = started;
  try {
    const inspection = await inspectRunning({ ...input, limits: limitsFor(started, input) }, started.endpoint);
    if (inspection === null) return { inspection, withdraw };
    if (!inspection.warnings.some(({ code }) => code === "list_failed")) {
      for (const line of started.output) request.log("inspect", "output", line);
      logStart(request.log, started.startMs, ", where it will run");
      if (inspection.manifest !== null) logManifest(request.log, inspection.manifest);
      const warnings = [...startWarnings(started, inspection.manifest), ...inspection.warnings];
      return { inspection: { ...inspection, warnings }, withdraw };
    }
  } catch (error) {
    // Of a build that was canceled nobody waits for the server.
    if (input.signal.aborted) await withdraw();
    input.signal.throwIfAborted();
    if (!(error instanceof McpClientError)) throw error;
  }
  await withdraw();
  return nothing;
}

/** A bridged program is started again for each session but the first: as long as that takes, it doesn't list. */
function limitsFor({ bridge, startMs }: StartedServer, { limits }: Pick<InspectInput, "limits">) {
  const restarts = bridge === "program" ? 2 * Math.round(startMs) : 0;
  return { ...limits, handshakeMs: Math.min(limits.handshakeMs, listWithinMs) + restarts };
}

async function startInTime(input: Omit<InspectInput, "driver">): Promise<StartedServer | null> {
  const { request, server, layers, limits, signal } = input;
  if (request.startInPlace === null) return null;
  request.log("inspect", "step", "Server: starting where it will run.");
  const late = AbortSignal.timeout(3 * limits.startMs + placeWithinMs);
  try {
    const built = { layers, program: server.program };
    const started = await request.startInPlace(built, AbortSignal.any([signal, late]));
    if (started === null || started.endpoint !== null) return started;
    for (const line of started.output) request.log("inspect", "output", line);
    const lastLines = started.output.slice(-maxLastLines);
    const found = { file: server.entryFile, late: started.late, limitMs: limits.startMs };
    throw new BuildFailure(diagnoseLateStart(found, lastLines));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return null;
    throw error;
  }
}
