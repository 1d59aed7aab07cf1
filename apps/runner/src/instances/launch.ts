import { type Exit, type RuntimeDriver, SandboxError } from "@towpath/runtime";
import type { InstanceTiming } from "../config.ts";
import type { Instance, OpenedDeployment } from "./instance.ts";
import { startFailureWords } from "./words.ts";

export type LaunchParts = {
  readonly driver: RuntimeDriver;
  readonly timing: InstanceTiming;
  /** Told of errors of the platform, for its own log: the public gets a text without their detail. */
  readonly onError: (error: unknown) => void;
};

/** Why an instance did not start, in words for its owner. */
export type LaunchFailure = {
  readonly code: "start_failed" | "isolation_unavailable";
  readonly reason: string;
  readonly exit: Exit | null;
};

/** Errors whose messages are written for people, and what they mean for a lease. */
const publicErrors: Readonly<Partial<Record<SandboxError["code"], LaunchFailure["code"]>>> = {
  isolation_unavailable: "isolation_unavailable",
  network_unavailable: "isolation_unavailable",
  layer_unavailable: "start_failed",
  python_unavailable: "start_failed",
};
const sandboxFailed = "its sandbox could not be set up. Try again; if it stays, ask the operator.";

/** Starts an instance by the driver. Null when it has become ready. */
export async function launch(
  instance: Instance,
  opened: OpenedDeployment,
  { driver, timing, onError }: LaunchParts,
): Promise<LaunchFailure | null> {
  try {
    const result = await driver.start(
      {
        instanceId: instance.id,
        server: opened.server,
        startTimeoutMs: timing.startTimeoutMs,
        ...(opened.memo === undefined ? {} : { memo: opened.memo }),
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
    const code = error instanceof SandboxError ? publicErrors[error.code] : undefined;
    if (code !== undefined && error instanceof Error) return { code, reason: error.message, exit: null };
    return { code: "start_failed", reason: sandboxFailed, exit: null };
  }
}
