import { posix } from "node:path";
import type { BuildPhase, Diagnosis } from "@towpath/core/delivery/build/contract";
import { SandboxError } from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import { askOperator, BuildFailure, countOf, diagnosis, type Failure, rebuild } from "../failure.ts";
import type { SourceTree } from "../fetch/source-tree.ts";
import type { ServerFailure } from "../inspect/inspect.ts";
import { StepFailure } from "../install/run-step.ts";
import { diagnoseHarness } from "./harness.ts";
import { diagnoseLateStart } from "./late-start.ts";
import { diagnoseInstallLimit, diagnoseServerExit } from "./limits.ts";
import { diagnoseProtocol } from "./protocol.ts";
import { diagnoseUv } from "./uv.ts";

// Turns the reports of phases into diagnoses. All pure.

/** The diagnosis of an error before the inspection; null for errors of the platform. */
export function diagnoseError(error: unknown, limits: BuildLimits): Failure | null {
  if (error instanceof BuildFailure) return { diagnosis: error.diagnosis, status: null };
  if (!(error instanceof StepFailure)) return null;
  const { exit, context, output, isUv } = error;
  const found = diagnoseInstallLimit(exit, limits, context.file) ?? (isUv ? diagnoseUv(output, context) : null);
  return found && { diagnosis: found, status: null };
}

/** Why a server can't be inspected. */
export function diagnoseServer(failure: ServerFailure, limits: BuildLimits): Failure {
  const { server, lastLines } = failure;
  const at = { file: server.entryFile, excerpt: lastLines.length === 0 ? null : lastLines.join("\n") };
  switch (failure.kind) {
    case "reported":
      return { diagnosis: diagnoseHarness(failure.status, server, lastLines), status: failure.status };
    case "exited":
      return { diagnosis: diagnoseServerExit(failure.exit, limits, at), status: null };
    case "late":
      return { diagnosis: diagnoseLateStart(failure.late, limits.startMs, at), status: null };
    case "unanswered":
      return { diagnosis: diagnoseProtocol(failure.error, failure.timeoutMs, at), status: null };
  }
}

/**
 * The diagnosis of the end of a whole build: its time, or a host that can't isolate it. Null for other errors.
 *
 * @param exceededMs the build's time limit, if it was exceeded
 */
export function diagnoseEnd(error: unknown, phase: BuildPhase, exceededMs: number | null): Diagnosis | null {
  if (exceededMs !== null) {
    return diagnosis(phase, "build_timeout", rebuild, {
      title: "The build took too long",
      detail: `It was stopped after ${countOf(Math.round(exceededMs / 60_000), "minute")}, in the ${phase} phase.`,
      remedy:
        "The times in the log show what was slow. Choose dependencies that have a wheel, or make the server start faster.",
    });
  }
  if (!(error instanceof SandboxError)) return null;
  const title = endTitles[error.code];
  if (title !== undefined)
    return diagnosis(phase, "internal_error", rebuild, {
      title,
      detail: error.message,
      remedy: "Rebuild later. If it fails again, tell the operator. Nothing is wrong with the repository.",
    });
  return diagnosis(phase, "internal_error", askOperator, {
    title: "This platform can't isolate builds at the moment",
    detail: error.message,
    remedy: "Tell the operator. Nothing is wrong with the repository.",
  });
}

/** Of what a cluster does to a build's pod; it may be different at the next attempt. */
const endTitles: Partial<Readonly<Record<SandboxError["code"], string>>> = {
  no_room: "The platform has no room for the build at the moment",
  platform_ended: "The build was interrupted",
};

/** Adds the path in the repository of the file whose change fixes a failure, and of the one that a known change is of. */
export function located(found: Diagnosis, source: SourceTree | null): Diagnosis {
  const { action, file } = found;
  if (action.kind !== "code" || source === null) return found;
  const { change } = action;
  const at = (path: string) => posix.join(source.subPath, path);
  const isThere = source.entries.some(({ path }) => path === file);
  const path = isThere && file !== null ? at(file) : action.path;
  return { ...found, action: { ...action, path, ...(change && { change: { ...change, file: at(change.file) } }) } };
}
