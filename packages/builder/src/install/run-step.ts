import type { BuildPhase } from "@towpath/core/delivery/build/contract";
import type { BuildStep, Exit, VolumeMount } from "@towpath/runtime";
import { buildImage } from "@towpath/runtime";
import type { SourceTree } from "../fetch/source-tree.ts";
import type { InstallInput } from "./input.ts";

export type Step = Omit<BuildStep, "pythonVersion"> & {
  readonly timeoutMs: number;
  /** Keeps stdout, which only the caller reads, out of the log. */
  readonly quietStdout?: boolean;
};

/** Facts that explain a failed command. */
export type StepContext = {
  /** The file that lists the dependencies, relative to the root directory; null when there is none. */
  readonly file: string | null;
  readonly pythonVersion: string;
  /** The packages that require a package, by its name; empty if only the project does, or if uv resolves nothing. */
  readonly requirers?: ReadonlyMap<string, readonly string[]>;
};

/** A command that failed, with its last lines; `diagnose` finds out why. */
export class StepFailure extends Error {
  readonly exit: Exit;
  readonly output: string;
  readonly isUv: boolean;
  readonly context: StepContext;

  constructor(exit: Exit, output: string, { argv }: Step, context: StepContext) {
    super(`${argv.join(" ")} failed (${exit.reason}): ${output.slice(-2_000)}`);
    this.name = "StepFailure";
    this.exit = exit;
    this.output = output;
    this.isUv = argv[0] === buildImage.uv;
    this.context = context;
  }
}

const phase: BuildPhase = "install";
const maxKeptBytes = 64 * 1024;

/** Mounts the built part of the repository, read-only. */
export const sourceAt = (source: Pick<SourceTree, "subPath">, path: string): VolumeMount => ({
  volume: "source",
  ...(source.subPath === "" ? {} : { subPath: source.subPath }),
  path,
  access: "read",
});

/**
 * Runs one command of the build and writes its output to the build log. Resolves to the last lines of both streams,
 * at most 64 KiB.
 * @throws StepFailure when the command fails, and the signal's reason when it is aborted
 */
export async function runStep(input: InstallInput, step: Step): Promise<string> {
  const { workspace, pythonVersion, limits, log, signal, plan } = input;
  const { timeoutMs, quietStdout = false, ...rest } = step;
  const lines: string[] = [];
  let bytes = 0;
  const exit = await workspace.run(
    { ...rest, pythonVersion },
    {
      timeoutMs,
      outputBytes: limits.outputBytes,
      signal,
      onOutput: (stream, line) => {
        lines.push(line);
        bytes += line.length + 1;
        while (bytes > maxKeptBytes) bytes -= (lines.shift()?.length ?? 0) + 1;
        if (!(quietStdout && stream === "stdout")) log(phase, "output", line);
      },
    },
  );
  signal.throwIfAborted();
  const output = lines.join("\n");
  if (exit.reason === "exited" && exit.code === 0) return output;
  const { requirers = new Map() } = input;
  throw new StepFailure(exit, output, step, { file: plan.dependencies.file, pythonVersion, requirers });
}
