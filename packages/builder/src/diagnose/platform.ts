import type { BuildPhase } from "@towpath/core/build/contract";
import type { SandboxError } from "@towpath/runtime";
import { diagnosis } from "../failure.ts";

// Failures that are not about what the repository contains.

export const notFetched = (error: unknown) =>
  diagnosis({
    code: "source_unavailable",
    phase: "fetch",
    title: "The commit cannot be fetched",
    detail: error instanceof Error ? error.message : "GitHub gave no reason.",
    remedy: "Check that the repository still exists and that the GitHub App may read it, then start the build again.",
  });

export const rootMissing = (root: string) =>
  diagnosis(
    {
      code: "source_unavailable",
      phase: "fetch",
      title: `The root directory ${root} does not exist`,
      detail: "The project's settings name it, but the commit has no files there.",
      remedy: "Correct the root directory in the project's settings, or leave it empty for the whole repository.",
    },
    { file: root },
  );

export const tooLong = (phase: BuildPhase, limitMs: number) =>
  diagnosis({
    code: "build_timeout",
    phase,
    title: "The build took too long",
    detail: `It was ended after ${Math.round(limitMs / 60_000)} minutes, in the phase ${phase}.`,
    remedy: "The log's times show where it was spent: choose dependencies that need no compiling, and start faster.",
  });

export const notIsolated = (phase: BuildPhase, error: SandboxError) =>
  diagnosis({
    code: "internal_error",
    phase,
    title: "This platform cannot isolate builds at the moment",
    detail: error.message,
    remedy: "Tell the operator; nothing in the repository is wrong.",
  });
