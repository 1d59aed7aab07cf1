import { posix } from "node:path";
import type { LayerCache } from "@towpath/artifacts";
import type { Diagnosis } from "@towpath/core/delivery/build/contract";
import { TowpathError } from "@towpath/core/errors";
import type { BuildWorkspace, RuntimeDriver, VolumeEntry } from "@towpath/runtime";
import type { Changes, Made } from "./attempts/attempt.ts";
import type { Programs } from "./attempts/programs.ts";
import type { BuilderConfig, BuildLimits } from "./config.ts";
import type { BuildLogSink, BuildRequest } from "./contract.ts";
import { diagnoseError } from "./diagnose/diagnose.ts";
import { BuildFailure, changeSettings, countOf, diagnosis, failed, type Outcome, rebuild } from "./failure.ts";
import { extractSource } from "./fetch/extract.ts";
import { type SourceTree, subtree } from "./fetch/source-tree.ts";
import { type FoundPython, findPython } from "./install/find-python.ts";
import type { InstallInput } from "./install/input.ts";
import { type Installed, installLayers } from "./install/install.ts";
import { ResolutionMemory, type ResolutionStore } from "./install/resolution-memory.ts";
import { lockRenewed } from "./plan/choose-dependencies.ts";
import { commandOf } from "./plan/choose-program.ts";
import { ofPackage, type Plan, requiring } from "./plan/plan.ts";
import { planSource } from "./plan-source.ts";
import type { BuildReport } from "./report.ts";

export type BuildInput = {
  readonly request: BuildRequest;
  readonly config: BuilderConfig;
  readonly limits: BuildLimits;
  readonly driver: RuntimeDriver;
  readonly layers: Pick<LayerCache, "find" | "has">;
  readonly store: ResolutionStore;
  readonly signal: AbortSignal;
  readonly report: BuildReport;
};

/** Layers, the programs that may start the server in them, and their sources. `servers`: see `Plan`. */
export type MadeLayers = Programs & Installed & Made & Pick<Plan, "servers">;

const isGone: ReadonlySet<Diagnosis["code"]> = new Set(["dependency_conflict", "dependency_not_found"]);

/**
 * Fetches the source, plans and installs: the versions of an earlier build, if the request says so and they are
 * available. Leaves nothing but the layers.
 *
 * @param log for the phases before the installation, which logs to the request
 */
export async function makeLayers(input: BuildInput, changes: Changes, log: BuildLogSink): Promise<Outcome<MadeLayers>> {
  const { request } = input;
  const made = await makeOnce({ ...input, changes, log });
  if (made.ok || request.resolution === null || !isGone.has(made.failure.diagnosis.code)) return made;
  const { title } = made.failure.diagnosis;
  request.log("install", "step", `The earlier build's versions can't be installed: ${title}. Resolving again.`);
  return makeOnce({ ...input, request: { ...request, resolution: null }, changes, log: () => {} });
}

type MakeInput = BuildInput & { readonly changes: Changes; readonly log: BuildLogSink };

async function makeOnce(input: MakeInput): Promise<Outcome<MadeLayers>> {
  const { request, limits, driver } = input;
  const { buildId, organizationId } = request;
  const { install, diskBytes, freeBytes } = limits;
  const workspace = await driver.builds.open({ buildId, organizationId, limits: install, diskBytes, freeBytes });
  try {
    return { ok: true, value: await makeIn(workspace, input) };
  } catch (error) {
    const failure = diagnoseError(error, limits);
    if (failure === null) throw error;
    return { ok: false, failure };
  } finally {
    await workspace.close();
  }
}

async function makeIn(workspace: BuildWorkspace, input: MakeInput): Promise<MadeLayers> {
  const { request, limits, layers, store, signal, changes, report } = input;
  const { buildId, organizationId, log } = request;
  const fetched = await report.timed("fetch", () => fetchSource(input, workspace));
  report.source = fetched;
  const { plan, pythonVersion, source } = await report.timed("plan", () => planWithin(input, fetched, workspace));
  report.source = source;
  const memory = new ResolutionMemory(store, limits.resolutionMs);
  const installed = await report.timed("install", () =>
    installLayers({
      buildId,
      organizationId,
      plan,
      source,
      workspace,
      pythonVersion,
      limits,
      layers,
      memory,
      log,
      signal,
      ...versionsOf(request, changes),
    }),
  );
  const { isGuess, servers } = plan;
  const others = plan.others.map((other) => ({ ...plan, ...other }));
  return { ...installed, server: plan, others, isGuess, servers, plan, madeAt: source.madeAt };
}

/** The versions to install. For an earlier build of which only the date is known, those that the index had then. */
function versionsOf({ resolution }: BuildRequest, { asOf }: Changes): Pick<InstallInput, "asOf" | "pins"> {
  if (asOf !== undefined) return { asOf, pins: null };
  const pins = resolution?.pins ?? null;
  return { asOf: resolution === null || pins !== null ? null : new Date(resolution.at), pins };
}

async function fetchSource(input: MakeInput, workspace: BuildWorkspace): Promise<SourceTree> {
  const { request, limits, signal, log } = input;
  const { openTarball, sourceRemedy } = request;
  const tarball = await openTarball(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw notFetched(error, sourceRemedy);
  });
  const writeSource = (entries: AsyncIterable<VolumeEntry>) => workspace.write("source", entries);
  const whole = await extractSource(tarball, writeSource, limits.source, signal).catch((error: unknown) => {
    throw error instanceof TowpathError ? notFetched(error, sourceRemedy) : error;
  });
  const count = countOf(whole.entries.length, "file");
  log("fetch", "step", `Source: ${count}.`);
  const root = posix.normalize(request.rootDirectory ?? ".").replace(/^\/|\/$/g, "");
  if (root === "" || root === ".") {
    log("fetch", "result", count);
    return whole;
  }
  const part = root.startsWith("..") ? null : subtree(whole, root);
  if (part === null) throw rootMissing(root);
  const found = countOf(part.entries.length, "file");
  log("fetch", "step", `Root directory: ${root} (set under Settings → Build); ${found}.`);
  log("fetch", "result", `${found} in ${root}`);
  return part;
}

const notFetched = (error: unknown, remedy: string): BuildFailure =>
  new BuildFailure(
    diagnosis("fetch", "source_unavailable", rebuild, {
      title: "The commit can't be fetched",
      detail: error instanceof Error ? error.message : "Its host gave no reason.",
      remedy,
    }),
    error,
  );

const rootMissing = (root: string): BuildFailure =>
  failed("fetch", "source_unavailable", changeSettings("build"), {
    title: `The root directory ${root} does not exist`,
    detail: "It is set under Settings → Build, but the commit has no files there.",
    remedy: "Correct the root directory under Settings → Build, or leave it empty for the whole repository.",
    file: root,
  });

type Planned = { readonly plan: Plan; readonly pythonVersion: string; readonly source: SourceTree };

/** The plan of the tree; if it offers nothing and the settings don't say where, of its only project with a server. */
async function planWithin(input: MakeInput, source: SourceTree, workspace: BuildWorkspace): Promise<Planned> {
  try {
    return await planTree(input, source, workspace);
  } catch (error) {
    const root = input.request.rootDirectory === null ? onlyServerDirectory(error) : null;
    const part = root === null ? null : subtree(source, root);
    if (part === null) throw error;
    input.log("plan", "step", `Root directory: ${root} (found automatically); no other directory has a server.`);
    return await planTree(input, part, workspace);
  }
}

/** The one directory in which a failed plan found a server; null if there are several, or none. */
function onlyServerDirectory(error: unknown): string | null {
  const action = error instanceof BuildFailure ? error.diagnosis.action : null;
  const [only, ...others] = action?.kind === "root-directory" ? action.candidates : [];
  return only !== undefined && others.length === 0 ? only : null;
}

async function planTree(input: MakeInput, source: SourceTree, workspace: BuildWorkspace): Promise<Planned> {
  const { request, config, driver, limits, log, signal, report, changes } = input;
  const { isInstalled = false, requirement } = changes;
  const { entrypoint, arguments: programArguments, requirements, rootDirectory } = request;
  const stated = await planSource(
    source,
    { entrypoint, arguments: programArguments, requirements, rootDirectory, isInstalled },
    { read: (path, maxBytes) => workspace.read("source", path, maxBytes), timeoutMs: limits.planMs, signal },
  );
  const named = request.isPackage ? ofPackage(stated) : stated;
  const plan = requirement === undefined ? named : requiring(named, requirement);
  for (const { kind, text } of plan.log) log("plan", kind, text);
  const { renewsLock, file } = plan.dependencies;
  if (renewsLock !== null) report.warnOnce("plan", lockRenewed(renewsLock));
  const { version, from, warning } =
    (await pythonOf(input)) ?? (await findPython(plan.python, config.defaultPython, driver.host.pythons));
  if (warning !== null) report.warnOnce("plan", warning);
  log("plan", "step", `Using Python ${version}${from === null ? "" : `, downloaded from ${from} and checked`}.`);
  log("plan", "result", [`Python ${version}`, file, commandOf(plan.program)].filter(Boolean).join(", "));
  return { plan, pythonVersion: version, source };
}

/** The Python of the earlier build; null if this host doesn't have it. */
async function pythonOf({ request: { resolution }, driver }: MakeInput): Promise<FoundPython | null> {
  const version = resolution && (await driver.host.pythons.find(resolution.pythonVersion));
  return version === null ? null : { version, from: null, warning: null };
}
