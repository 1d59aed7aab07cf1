import type { BuildLogSink, BuildResult } from "@towpath/builder";
import { failBuild, keepBuild, releaseBuild, type TakenBuild, takeNextBuild } from "@towpath/core/build";
import type { BuildTimings, Diagnosis } from "@towpath/core/build/contract";
import type { Context } from "@towpath/core/context";
import { readEnvironment, redactor } from "@towpath/core/secret";
import { isGitHubError } from "@towpath/github";
import { cloudEnvironment } from "@towpath/runtime";
import { rollOut } from "../rollout/roll-out.ts";
import { jobContext, type Services } from "../services.ts";
import { type BuildLogWriter, createBuildLogWriter } from "./build-log.ts";
import { internalFailure, isolationMissing, sourceNotConnected } from "./diagnoses.ts";
import { redactDiagnosis, redactWarning } from "./redact-diagnosis.ts";

/** Why the work on a build ends before it is done. */
class BuildLost extends Error {
  override readonly name = "BuildLost";
}

/**
 * Runs the oldest queued build of an organization to its end: build, then rollout. Taking it is a compare-and-swap, and
 * its attempt number goes into every write, so a second worker on the same build, or one that was taken for dead,
 * changes nothing. A throw gives the job back to the queue.
 */
export async function runNextBuild(services: Services, organizationId: string, stopping: AbortSignal): Promise<void> {
  const ctx = jobContext(services, "build.run");
  const taken = await takeNextBuild({ ctx, input: { organizationId } });
  if (!taken) return;
  const { buildId } = taken;
  const log = services.log.child({ buildId, attempt: taken.attempt });
  log.info({ project: taken.project.name, commit: taken.commitSha }, "build started");
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const fence = { buildId, attempt: taken.attempt };
  const writer = createBuildLogWriter({
    pool: services.database.pool,
    ...fence,
    onLost: () => lost.abort(new BuildLost("another worker has the build")),
    onProblem: (problem) => log.warn({ err: problem }, "build log waits"),
  });
  const alive = keepAlive(services, ctx, fence, lost);
  try {
    await buildAndRollOut(services, ctx, taken, writer, signal);
  } catch (error) {
    if (lost.signal.aborted || error instanceof BuildLost) return log.warn("build lost to another worker");
    if (stopping.aborted) {
      await releaseBuild({ ctx, input: fence });
      throw error;
    }
    log.error({ err: error }, "build failed on our side");
    sayFailure(writer.log, internalFailure);
    await writer.flush();
    await failBuild({ ctx, input: { ...fence, diagnosis: internalFailure } });
  } finally {
    clearInterval(alive);
    await writer.flush();
    log.info("build ended");
  }
}

async function buildAndRollOut(
  services: Services,
  ctx: Context,
  taken: TakenBuild,
  writer: BuildLogWriter,
  signal: AbortSignal,
): Promise<void> {
  const { log } = writer;
  const built = await build(services, ctx, taken, log, signal);
  // Before every end: whoever is told that the build has ended finds its whole log.
  await writer.flush();
  signal.throwIfAborted();
  if (!built.ok) return fail(ctx, taken, built.diagnosis, built.timings);
  const { runner } = services;
  const rollout = await rollOut({ ctx, taken, built, runner, log, flushLog: writer.flush, signal });
  if (!rollout.ok) {
    sayFailure(log, rollout.diagnosis);
    await writer.flush();
    return fail(ctx, taken, rollout.diagnosis, built.timings);
  }
  if (rollout.result.outcome === "lost") throw new BuildLost("another worker has the build");
}

async function build(
  services: Services,
  ctx: Context,
  taken: TakenBuild,
  log: BuildLogSink,
  signal: AbortSignal,
): Promise<BuildResult> {
  const isolation = await services.isolation();
  if (!isolation.trusted && !services.allowUnsandboxed) {
    return refuse(log, isolationMissing(isolation));
  }
  const source = sourceOf(taken);
  if (!source) return refuse(log, sourceNotConnected);
  const { environment } = taken;
  const secrets = await readEnvironment({ ctx, input: { projectId: taken.project.id, environment } });
  const redact = redactor(secrets);
  const result = await services.builder.build({
    buildId: taken.buildId,
    organizationId: taken.organizationId,
    entrypoint: taken.entrypoint,
    requirements: taken.requirements,
    rootDirectory: taken.project.rootDirectory,
    authMode: taken.project.authMode,
    environment: cloudEnvironment(
      {
        serverUrl: taken.serverUrl,
        commitSha: taken.commitSha,
        repository: taken.project.repositoryFullName,
        environment,
      },
      secrets,
    ),
    openTarball: (abort) => openTarball(services, source, abort),
    log: (phase, kind, text) => log(phase, kind, redact(text)),
    signal,
  });
  return result.ok
    ? { ...result, warnings: result.warnings.map((warning) => redactWarning(warning, redact)) }
    : { ...result, diagnosis: redactDiagnosis(result.diagnosis, redact) };
}

/** A failure before the builder had a chance to say it. */
function refuse(log: BuildLogSink, diagnosis: Diagnosis): BuildResult {
  sayFailure(log, diagnosis);
  return { ok: false, diagnosis, timings: {} };
}

type Source = {
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
  readonly sha: string;
};

function sourceOf(taken: TakenBuild): Source | null {
  const { installationId, repositoryId, repositoryFullName } = taken.project;
  const [owner, name] = repositoryFullName?.split("/") ?? [];
  if (installationId === null || repositoryId === null || !owner || !name) return null;
  return { installationId, repositoryId, owner, name, sha: taken.commitSha };
}

async function openTarball(
  services: Services,
  source: Source,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  try {
    return await services.github.tarball(source, signal);
  } catch (error) {
    // The builder shows the message of what it catches: only the public text may get there (GH-2).
    if (!isGitHubError(error)) throw error;
    services.log.warn({ err: error, repository: `${source.owner}/${source.name}` }, "tarball not available");
    throw new Error(error.publicText);
  }
}

async function fail(ctx: Context, taken: TakenBuild, diagnosis: Diagnosis, timings: BuildTimings): Promise<void> {
  const { buildId, attempt } = taken;
  if (!(await failBuild({ ctx, input: { buildId, attempt, diagnosis, timings } }))) {
    throw new BuildLost("another worker has the build");
  }
}

/** The builder logs its own diagnoses; this is for the others, in the same form. */
function sayFailure(log: BuildLogSink, diagnosis: Diagnosis): void {
  log(diagnosis.phase, "error", [diagnosis.title, diagnosis.detail, diagnosis.remedy].join("\n"));
}

/** Signs of life. A database that is away for a moment does not end the build: the fence protects the others. */
function keepAlive(
  services: Services,
  ctx: Context,
  fence: { readonly buildId: string; readonly attempt: number },
  lost: AbortController,
): NodeJS.Timeout {
  return setInterval(() => {
    keepBuild({ ctx, input: fence }).then(
      (kept) => {
        if (!kept) lost.abort(new BuildLost("another worker has the build"));
      },
      (problem) => services.log.warn({ err: problem, ...fence }, "sign of life failed"),
    );
  }, services.keepAliveMs);
}
