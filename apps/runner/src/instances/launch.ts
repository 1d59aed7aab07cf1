import { type Exit, type RuntimeDriver, SandboxError } from "@towpath/runtime";
import type { InstanceTiming } from "../config.ts";
import type { Instance, OpenedDeployment } from "./instance.ts";
import { startFailureWords } from "./words.ts";

export type LaunchParts = {
  readonly driver: RuntimeDriver;
  readonly timing: InstanceTiming;
  readonly socketDirectory: (instanceId: string) => string;
  /** Told of errors of the platform, for its own log: the public gets a text without their detail. */
  readonly onError: (error: unknown) => void;
};

/** Why an instance did not start, in words for its owner. */
export type LaunchFailure = {
  readonly code: "start_failed" | "isolation_unavailable";
  readonly reason: string;
  readonly exit: Exit | null;
};

/** Those whose messages are written for people. The others quote paths of the host and what its programs said. */
const hostsFaults: ReadonlySet<string> = new Set(["isolation_unavailable", "network_unavailable"]);
const sandboxFailed = "its sandbox could not be set up. Try again; if it stays, ask the operator.";

/** Starts an instance by the driver. Null when it has become ready. */
export async function launch(
  instance: Instance,
  opened: OpenedDeployment,
  { driver, timing, socketDirectory, onError }: LaunchParts,
): Promise<LaunchFailure | null> {
  try {
    const result = await driver.start(
      {
        instanceId: instance.id,
        sandbox: opened.sandbox,
        socketDirectory: socketDirectory(instance.id),
        startTimeoutMs: timing.startTimeoutMs,
      },
      instance.output(),
    );
    if (result.ok) {
      instance.ready(result.handle, result.startMs);
      return null;
    }
    const reason = startFailureWords(result, timing.startTimeoutMs, instance.memoryLimit);
    return { code: "start_failed", reason, exit: result.exit };
  } catch (error) {
    onError(error);
    if (error instanceof SandboxError && hostsFaults.has(error.code))
      return { code: "isolation_unavailable", reason: error.message, exit: null };
    return { code: "start_failed", reason: sandboxFailed, exit: null };
  }
}
