import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../errors.ts";
import type { OutputSink } from "../port.ts";

const maxAttempts = 3;
const passing: readonly SandboxError["code"][] = ["network_unavailable", "setup_failed"];

/**
 * Runs again, up to three times altogether, while the sandbox itself could not be made. That happens under load
 * (setting up a network interface is interrupted), and has nothing to do with the command. A command that failed after
 * bubblewrap's own complaint and nothing else has not run; a tenant that prints such a line wins nothing but another
 * try.
 */
export async function retryFailedSandbox<T>(
  onOutput: OutputSink,
  run: (onOutput: OutputSink) => Promise<T>,
  failed: (result: T) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let lines = 0;
    let isComplaint = false;
    const counted: OutputSink = (stream, line, time) => {
      lines += 1;
      isComplaint = line.startsWith("bwrap: ");
      onOutput(stream, line, time);
    };
    try {
      const result = await run(counted);
      if (attempt === maxAttempts || !(failed(result) && lines === 1 && isComplaint)) return result;
    } catch (error) {
      const passes = error instanceof SandboxError && passing.includes(error.code);
      if (attempt === maxAttempts || !passes) throw error;
    }
    await sleep(50 * attempt);
  }
}
