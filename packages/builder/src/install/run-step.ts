import type { BuildPhase } from "@towpath/core/build/contract";
import type { BuildStep, Exit, VolumeMount } from "@towpath/runtime";
import { buildImage } from "@towpath/runtime";
import { diagnoseInstallExit } from "../diagnose/exit.ts";
import { diagnoseUv } from "../diagnose/uv.ts";
import type { UvContext } from "../diagnose/uv-rule.ts";
import { BuildFailure } from "../failure.ts";
import type { SourceTree } from "../fetch/source-tree.ts";
import type { InstallInput } from "./install.ts";

export type Step = Omit<BuildStep, "pythonVersion"> & {
  readonly timeoutMs: number;
  /** Keeps stdout, which only the caller reads, out of the log. */
  readonly quietStdout?: boolean;
};

const phase: BuildPhase = "install";
const maxKeptBytes = 64 * 1024;

/** Mounts the part of the repository that is built, read-only. */
export const sourceAt = (source: Pick<SourceTree, "subPath">, path: string): VolumeMount => ({
  volume: "source",
  ...(source.subPath === "" ? {} : { subPath: source.subPath }),
  path,
  access: "read",
});

/**
 * Runs one command of the build and writes its output to the build log. Resolves to the last lines of both streams,
 * at most 64 KiB.
 * @throws BuildFailure when the command fails, and the signal's reason when it is aborted
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
  const context = { file: plan.dependencies.file, pythonVersion, requirers };
  throw stepFailure(exit, output, step, context, limits);
}

function stepFailure(
  exit: Exit,
  output: string,
  { argv }: Step,
  context: UvContext,
  limits: InstallInput["limits"],
): Error {
  const limited = diagnoseInstallExit(exit, limits, context.file);
  if (limited !== null) return new BuildFailure(limited);
  if (argv[0] === buildImage.uv) return new BuildFailure(diagnoseUv(output, context));
  return new Error(`${argv.join(" ")} failed (${exit.reason}): ${output.slice(-2_000)}`);
}
