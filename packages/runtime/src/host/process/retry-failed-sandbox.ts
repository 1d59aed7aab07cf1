import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import type { OutputSink } from "../../port/execution.ts";

const maxAttempts = 3;
const transientCodes: readonly SandboxError["code"][] = ["network_unavailable", "setup_failed", "platform_ended"];

/**
 * Runs up to three times while the sandbox itself can't be created, as happens under load (setting up a network
 * interface is interrupted), or its parent process ends meanwhile. If the only output of a failed command is an error of
 * bubblewrap or runsc, the command has not run; a tenant that prints such a line only gets another attempt.
 */
export async function retryFailedSandbox<T>(
  onOutput: OutputSink,
  run: (onOutput: OutputSink) => Promise<T>,
  failed: (result: T) => boolean,
  lostParent: (result: T) => boolean = () => false,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let lines = 0;
    let isSandboxError = false;
    const counted: OutputSink = (stream, line, ...more) => {
      lines += 1;
      isSandboxError = /^(?:bwrap: |running container: creating container: )/.test(line);
      onOutput(stream, line, ...more);
    };
    try {
      const result = await run(counted);
      const isTransient = lostParent(result) || (failed(result) && lines === 1 && isSandboxError);
      if (attempt === maxAttempts || !isTransient) return result;
    } catch (error) {
      const isTransient = error instanceof SandboxError && transientCodes.includes(error.code);
      if (attempt === maxAttempts || !isTransient) throw error;
    }
    await sleep(50 * attempt);
  }
}
