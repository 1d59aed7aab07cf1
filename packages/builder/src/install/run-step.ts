import type { BuildPhase } from "@towpath/core/build/contract";
import type { Exit, RuntimeDriver, SandboxSpec } from "@towpath/runtime";
import type { BuildLogSink } from "../contract.ts";
import { failedBeforeCommand, retrySandbox } from "../sandbox-trouble.ts";

export type StepOutcome = {
  readonly exit: Exit;
  readonly ok: boolean;
  /** The last lines of both streams together, at most 64 KiB. */
  readonly output: string;
};

type StepOptions = {
  readonly phase: BuildPhase;
  readonly log: BuildLogSink;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
  /** Keeps stdout out of the log: it is an answer for us. */
  readonly quietStdout?: boolean;
};

const keptBytes = 64 * 1024;

/** Runs one command of the build in its sandbox; its output goes to the build log line by line. */
export function runStep(driver: RuntimeDriver, spec: SandboxSpec, options: StepOptions): Promise<StepOutcome> {
  return retrySandbox(
    () => runOnce(driver, spec, options),
    (outcome) => !outcome.ok && failedBeforeCommand(outcome.output.split("\n")),
  );
}

async function runOnce(driver: RuntimeDriver, spec: SandboxSpec, options: StepOptions): Promise<StepOutcome> {
  const { phase, log, timeoutMs, outputBytes, signal } = options;
  const lines: string[] = [];
  let bytes = 0;
  const exit = await driver.run(spec, {
    timeoutMs,
    outputBytes,
    signal,
    onOutput: (stream, line) => {
      lines.push(line);
      bytes += line.length + 1;
      while (bytes > keptBytes) bytes -= (lines.shift()?.length ?? 0) + 1;
      if (!(options.quietStdout === true && stream === "stdout")) log(phase, "output", line);
    },
  });
  signal.throwIfAborted();
  return { exit, ok: exit.reason === "exited" && exit.code === 0, output: lines.join("\n") };
}
