import { type BuildLogSink, type BuildRequest, type BuildResult, packageSource } from "@towpath/builder";
import {
  failBuild,
  holdBuilds,
  keepBuild,
  releaseBuild,
  type TakenBuild,
  takeNextBuild,
} from "@towpath/core/delivery/build";
import type { BuildTimings, BuildWarning, Diagnosis } from "@towpath/core/delivery/build/contract";
import { TowpathError } from "@towpath/core/errors";
import type { SourceWarning } from "@towpath/core/ports";
import { pinEnvironment } from "@towpath/core/projects/secret";
import { openBuildSource } from "@towpath/core/sources/source";
import { sourceKinds } from "@towpath/core/sources/source/kind/schema";
import { pullRequestOfForkBranch } from "@towpath/core/sources/webhook";
import { RunnerError } from "@towpath/runner-api";
import { cloudEnvironment, SandboxError } from "@towpath/runtime";
import { createRedactor } from "@towpath/secrets/redaction";
import { describeSpan, startTrace } from "@towpath/telemetry/trace";
import type { Logger } from "pino";
import type { BuildEnd } from "../metrics.ts";
import { waitingForRoom } from "../retention/disk.ts";
import { inspectPromoted } from "../rollout/inspect-promoted.ts";
import { rollOut } from "../rollout/roll-out.ts";
import { startInPlace } from "../rollout/start-in-place.ts";
import { type JobContext, jobContext, type Services } from "../services.ts";
import { type BuildLogWriter, createBuildLogWriter } from "./build-log.ts";
import {
  aboutFork,
  completeSource,
  failureOfFork,
  failureOnOurSide,
  isolationMissing,
  redactDiagnosis,
  redactWarning,
  sourceChanged,
  sourceNotConnected,
} from "./diagnoses.ts";

/** Another worker took the build, or it was canceled or deleted: this worker must stop writing. */
class BuildLost extends Error {
  override readonly name = "BuildLost";

  constructor() {
    super("another worker has the build");
  }
}

/** One attempt at a build by this worker. */
type BuildRun = {
  readonly services: Services;
  readonly ctx: JobContext;
  readonly taken: TakenBuild;
  /** Goes into every write: a worker that lost the build changes nothing. */
  readonly fence: { readonly buildId: string; readonly attempt: number };
  /** Read by the operator. */
  readonly operatorLog: Logger;
  /** Read by the project's owner. */
  readonly buildLog: BuildLogWriter;
  /** Aborted when the build is lost or the worker stops. */
  readonly signal: AbortSignal;
};

/**
 * Runs the oldest queued build of an organization to its end: build, then rollout. A compare-and-swap gives it to one
 * worker. After a throw the job is retried.
 */
export async function runNextBuild(services: Services, organizationId: string, stopping: AbortSignal): Promise<void> {
  const ctx = jobContext(services, "build.run");
  const disk = await services.disk.look();
  if (disk.low) {
    // The build has not failed: it waits, and the sweep requeues it.
    await holdBuilds({ ctx, input: { organizationId, reason: waitingForRoom(disk) } });
    return;
  }
  const taken = await takeNextBuild({ ctx, input: { organizationId, worker: services.workerName } });
  if (!taken) return;
  const fence = { buildId: taken.buildId, attempt: taken.attempt };
  const operatorLog = services.log.child(fence);
  operatorLog.info({ project: taken.project.name, commit: taken.commitSha }, "build started");
  const lost = new AbortController();
  const buildLog = createBuildLogWriter({
    pool: services.database.pool,
    ...fence,
    onLost: () => lost.abort(new BuildLost()),
    onProblem: (problem) => operatorLog.warn({ err: problem }, "build log waits"),
  });
  const signal = AbortSignal.any([stopping, lost.signal]);
  const run: BuildRun = { services, ctx, taken, fence, operatorLog, buildLog, signal };
  const heartbeat = startHeartbeat(run, lost);
  const { organizationId: organization, project, environment, traceparent } = taken;
  const attributes = {
    "towpath.build.id": taken.buildId,
    "towpath.organization.id": organization,
    "towpath.project.id": project.id,
    "towpath.environment": environment,
  };
  try {
    await startTrace(services.spans, { name: "build", kind: "consumer", traceparent, attributes }, () =>
      runToEnd(run, { stopping, lost: lost.signal }),
    );
  } finally {
    clearInterval(heartbeat);
    await buildLog.flush();
    operatorLog.info("build ended");
  }
}

type Interruptions = { readonly stopping: AbortSignal; readonly lost: AbortSignal };

/** @throws the reason of `stopping` once it is aborted: the job is then retried */
async function runToEnd(run: BuildRun, { stopping, lost }: Interruptions): Promise<void> {
  const { services, ctx, fence, operatorLog, buildLog } = run;
  const startedAt = performance.now();
  const ended = (end: BuildEnd, timings: BuildTimings = {}) => {
    describeSpan({ "towpath.build.end": end, ...(end !== "succeeded" && { failure: end }) });
    services.buildEnded({ end, seconds: (performance.now() - startedAt) / 1000, timings });
  };
  try {
    const { isLive, timings } = await buildAndRollOut(run);
    ended(isLive ? "succeeded" : "failed", timings);
  } catch (error) {
    if (lost.aborted || error instanceof BuildLost) {
      ended("lost");
      operatorLog.warn("build lost to another worker");
    } else if (stopping.aborted) {
      ended("released");
      await releaseBuild({ ctx, input: fence });
      throw error;
    } else if (isOutage(error)) {
      ended("released");
      operatorLog.warn({ err: error }, "build waits for what runs builds and servers");
      await releaseBuild({ ctx, input: fence });
      await holdBuilds({ ctx, input: { organizationId: run.taken.organizationId, reason: outage } });
      throw error;
    } else {
      ended("error");
      operatorLog.error({ err: error }, "build failed on our side");
      const diagnosis = failureOnOurSide(error);
      logDiagnosis(buildLog.log, diagnosis);
      await buildLog.flush();
      await failBuild({ ctx, input: { ...fence, diagnosis } });
    }
  }
}

const outage = "What runs builds and servers can't be reached. The build begins again when it can.";

/** Of a cluster's API, for example: the same build may succeed later. */
const isOutage = (error: unknown) =>
  (error instanceof SandboxError && error.code === "unreachable") ||
  (error instanceof RunnerError && error.code === "unavailable");

type Ended = { readonly isLive: boolean; readonly timings: BuildTimings };

async function buildAndRollOut(run: BuildRun): Promise<Ended> {
  const { services, ctx, taken, buildLog, signal } = run;
  const built = await build(run);
  // The log first: it must be complete before the build counts as ended.
  await buildLog.flush();
  signal.throwIfAborted();
  if (!built.ok) return fail(run, built.diagnosis, built.timings);
  const { log, flush } = buildLog;
  const rollout = await rollOut({ ctx, taken, built, runner: services.runner, log, flushLog: flush, signal });
  if (!rollout.ok) {
    logDiagnosis(log, rollout.diagnosis);
    await flush();
    return fail(run, rollout.diagnosis, built.timings);
  }
  if (rollout.result.outcome === "lost") throw new BuildLost();
  return { isLive: true, timings: rollout.timings };
}

async function build(run: BuildRun): Promise<BuildResult> {
  const { services, ctx, taken, fence, buildLog, signal } = run;
  const { log } = buildLog;
  const isolation = await services.isolation();
  if (isolation.refuses) return refuse(log, isolationMissing(isolation));
  const missing: BuildWarning[] = [];
  const source = openSourceOf(run, ({ title, detail }) => {
    log("fetch", "warning", `${title}. ${detail}`);
    missing.push({ code: "source_incomplete", title, detail, remedy: completeSource });
  });
  if (typeof source !== "function") return refuse(log, source);
  const { project, environment } = taken;
  const secrets = await pinEnvironment({ ctx, input: { ...fence, projectId: project.id, environment } });
  if (secrets === null) throw new BuildLost();
  const isFork = pullRequestOfForkBranch(taken.branchName) !== null;
  const redactor = createRedactor(secrets);
  const redact = (text: string) => (isFork ? aboutFork(redactor.text(text)) : redactor.text(text));
  const request: BuildRequest = {
    buildId: taken.buildId,
    organizationId: taken.cacheOwnerId,
    entrypoint: taken.entrypoint,
    arguments: taken.arguments,
    requirements: taken.requirements,
    layers: taken.layers,
    resolution: taken.resolution,
    rootDirectory: taken.rootDirectory,
    isPackage: taken.source?.kind === "package",
    authMode: project.authMode,
    environment: cloudEnvironment(
      {
        serverUrl: taken.serverUrl,
        commitSha: taken.commitSha,
        repository: taken.repository,
        environment,
      },
      secrets,
    ),
    // A version that doesn't start must not access the data of production's server.
    startInPlace:
      project.keepsData || taken.layers !== null
        ? null
        : (built, within) => startInPlace({ ctx, taken, runner: services.runner }, built, within),
    openTarball: source,
    sourceRemedy: sourceKinds[taken.source?.kind ?? "git"].remedy,
    log: (phase, kind, text) => log(phase, kind, redact(text)),
    signal,
  };
  const { builder, runner } = services;
  const result = (await inspectPromoted({ ctx, taken, request, builder, runner })) ?? (await builder.build(request));
  return result.ok
    ? { ...result, warnings: [...missing, ...result.warnings].map((warning) => redactWarning(warning, redact)) }
    : { ...result, diagnosis: redactDiagnosis(isFork ? failureOfFork(result.diagnosis) : result.diagnosis, redact) };
}

/** A failure before the builder could report one. */
function refuse(log: BuildLogSink, diagnosis: Diagnosis): BuildResult {
  logDiagnosis(log, diagnosis);
  return { ok: false, diagnosis, timings: {} };
}

type OpenSource = BuildRequest["openTarball"];
type Warn = (warning: SourceWarning) => void;

/** Opens the source of a build; a diagnosis when the source is gone. */
function openSourceOf({ services, ctx, taken, operatorLog }: BuildRun, warn: Warn): OpenSource | Diagnosis {
  const { project, organizationId, source, commitSha, packageVersion, branchName: branch } = taken;
  if (source === null || (source.kind === "package") !== (packageVersion !== null)) return sourceChanged;
  if (source.kind === "package") {
    return (signal) => openPackage(services.packages, { name: source.name, version: packageVersion ?? "" }, signal);
  }
  if (source.kind === "github" && source.installationId === null) return sourceNotConnected;
  return async (signal) => {
    try {
      const reader = await openBuildSource({ ctx, input: { projectId: project.id, organizationId, from: source } });
      return await reader.tarball({ branch, sha: commitSha }, { warn, signal });
    } catch (error) {
      if (error instanceof TowpathError)
        operatorLog.warn({ err: error, repository: taken.repository }, "tarball not available");
      throw error;
    }
  };
}

/** A version that was yanked since is tried anyway: uv reports it. */
async function openPackage(
  packages: Services["packages"],
  { name, version }: { readonly name: string; readonly version: string },
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const { releases } = await packages.releases(name, signal);
  const release = releases.find((each) => each.version === version);
  const { requiresPython = null, uploadedAt = null } = release ?? {};
  return packageSource({ name, version, requiresPython, uploadedAt });
}

/** @throws BuildLost */
async function fail({ ctx, fence }: BuildRun, diagnosis: Diagnosis, timings: BuildTimings): Promise<Ended> {
  if (!(await failBuild({ ctx, input: { ...fence, diagnosis, timings } }))) throw new BuildLost();
  describeSpan({ "towpath.diagnosis": diagnosis.code, "towpath.phase": diagnosis.phase });
  return { isLive: false, timings };
}

/** The builder logs its own diagnoses; this logs the others in the same form. */
function logDiagnosis(log: BuildLogSink, { phase, title, detail, remedy }: Diagnosis): void {
  log(phase, "error", [title, detail, remedy].join("\n"));
}

/** A failed heartbeat doesn't end the build: the fence prevents it from overwriting another worker's results. */
function startHeartbeat({ services, ctx, fence, operatorLog }: BuildRun, lost: AbortController): NodeJS.Timeout {
  return setInterval(() => {
    keepBuild({ ctx, input: fence }).then(
      (kept) => {
        if (!kept) lost.abort(new BuildLost());
      },
      (problem) => operatorLog.warn({ err: problem }, "heartbeat failed"),
    );
  }, services.heartbeatMs);
}
