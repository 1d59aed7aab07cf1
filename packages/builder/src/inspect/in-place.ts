import { McpClientError } from "@towpath/mcp/client";
import { type InspectInput, type Inspection, inspectRunning, logManifest, logStart } from "./inspect.ts";
import { startWarnings } from "./warnings.ts";

/** Longer than most packages take to import. A slower server is inspected as usual, with the usual limits. */
const startWithinMs = 20_000;
const listWithinMs = 5_000;

/**
 * Inspects a server where it will run. Null when that tells too little: it doesn't start, answer or list there, or does
 * its own sign-in. Then `inspectServer` finds out why.
 */
export async function inspectInPlace(input: Omit<InspectInput, "driver">): Promise<Inspection | null> {
  const { request, limits } = input;
  const started = await startInTime(input);
  if (started === null) return null;
  try {
    const handshakeMs = Math.min(limits.handshakeMs, listWithinMs);
    const inspection = await inspectRunning({ ...input, limits: { ...limits, handshakeMs } }, started.endpoint);
    if (inspection !== null && !inspection.warnings.some(({ code }) => code === "list_failed")) {
      for (const line of started.output) request.log("inspect", "output", line);
      logStart(request.log, started.startMs, ", where it will run");
      if (inspection.manifest !== null) logManifest(request.log, inspection.manifest);
      return { ...inspection, warnings: [...startWarnings(started, inspection.manifest), ...inspection.warnings] };
    }
  } catch (error) {
    input.signal.throwIfAborted();
    if (!(error instanceof McpClientError)) throw error;
  }
  await started.withdraw();
  return null;
}

async function startInTime({ request, server, layers, signal }: Omit<InspectInput, "driver">) {
  if (request.startInPlace === null) return null;
  request.log("inspect", "step", "Server: starting where it will run.");
  const late = AbortSignal.timeout(startWithinMs);
  try {
    const built = { layers, program: server.program };
    return await request.startInPlace(built, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return null;
    throw error;
  }
}
