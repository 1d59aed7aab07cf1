import { posix } from "node:path";
import type { LayerCache } from "@towpath/artifacts";
import type { BuildPhase, BuildWarning, Diagnosis } from "@towpath/core/build/contract";
import { TowpathError } from "@towpath/core/errors";
import type { BuildWorkspace, RuntimeDriver, VolumeEntry } from "@towpath/runtime";
import type { BuilderConfig, BuildLimits } from "./config.ts";
import type { BuildLogSink, BuildRequest } from "./contract.ts";
import { BuildFailure, countOf, notFetched, rootMissing } from "./failure.ts";
import { extractSource } from "./fetch/extract.ts";
import { type SourceTree, subtree } from "./fetch/source-tree.ts";
import { commandOf, type Programs } from "./inspect/try-programs.ts";
import { type Installed, type InstallInput, installLayers } from "./install/install.ts";
import { ResolutionMemory, type ResolutionStore } from "./install/resolution-memory.ts";
import { lockRenewed } from "./plan/choose-dependencies.ts";
import { type FoundPython, findPython } from "./plan/find-python.ts";
import { ofPackage, type Plan, requiring } from "./plan/plan.ts";
import { planSource } from "./plan/plan-source.ts";
import type { Attempt } from "./second-attempt.ts";

export type MakeInput = {
  readonly request: BuildRequest;
  readonly config: BuilderConfig;
  readonly limits: BuildLimits;
  readonly driver: RuntimeDriver;
  readonly layers: Pick<LayerCache, "find">;
  readonly store: ResolutionStore;
  readonly signal: AbortSignal;
  /** Null: the dependencies as they are required, of today, and the project imported from the repository where it can be. */
  readonly attempt: Attempt | null;
  /** For the phases before the installation, which logs to the request. */
  readonly log: BuildLogSink;
  readonly warn: (phase: BuildPhase, warning: BuildWarning) => void;
  /** Called with the tree that is built, as soon as it is known. */
  readonly onSource: (source: SourceTree) => void;
  readonly timed: <Result>(phase: BuildPhase, run: () => Promise<Result>) => Promise<Result>;
};

/** Layers, what may start the server in them, and what they were made of. */
export type MadeLayers = Programs &
  Installed & {
    readonly plan: Plan;
    /** `Plan.servers` */
    readonly servers: readonly string[];
    /** `SourceTree.madeAt` */
    readonly madeAt: Date | null;
  };

type Planned = { readonly plan: Plan; readonly pythonVersion: string; readonly source: SourceTree };

const isGone: ReadonlySet<Diagnosis["code"]> = new Set(["dependency_conflict", "dependency_not_found"]);

/**
 * Fetches the source, plans and installs: what an earlier build had, if the request says so and it can still be had.
 * Leaves nothing but the layers. @throws BuildFailure
 */
export async function makeLayers(input: MakeInput): Promise<MadeLayers> {
  const { request } = input;
  try {
    return await makeOnce(input);
  } catch (error) {
    if (request.resolution === null || !(error instanceof BuildFailure) || !isGone.has(error.diagnosis.code))
      throw error;
    const text = `What the earlier build had can't be installed: ${error.diagnosis.title}. Resolving again.`;
    request.log("install", "step", text);
    return await makeOnce({ ...input, request: { ...request, resolution: null }, log: () => {} });
  }
}

async function makeOnce(input: MakeInput): Promise<MadeLayers> {
  const { request, limits, driver, timed, attempt } = input;
  const { asOf, pins } = versionsOf(input);
  const { buildId, organizationId, log } = request;
  const { install, diskBytes, freeBytes } = limits;
  const workspace = await driver.builds.open({ buildId, organizationId, limits: install, diskBytes, freeBytes });
  try {
    const fetched = await timed("fetch", () => fetchSource(input, workspace));
    input.onSource(fetched);
    const { plan: stated, pythonVersion, source } = await timed("plan", () => planWithin(input, fetched, workspace));
    input.onSource(source);
    const plan = attempt?.kind === "requirement" ? requiring(stated, attempt.requirement) : stated;
    const memory = new ResolutionMemory(input.store, limits.resolutionMs);
    const installed = await timed("install", () =>
      installLayers({
        ...{ buildId, organizationId, plan, source, workspace, pythonVersion, limits, memory, log, asOf, pins },
        layers: input.layers,
        signal: input.signal,
      }),
    );
    const others = plan.others.map((other) => ({ ...plan, ...other }));
    return {
      ...installed,
      server: plan,
      others,
      isGuess: plan.isGuess,
      servers: plan.servers,
      plan,
      madeAt: source.madeAt,
    };
  } finally {
    await workspace.close();
  }
}

/** Which versions are installed. An earlier build of which only the time is known had what the index had then. */
function versionsOf({ attempt, request: { resolution } }: MakeInput): Pick<InstallInput, "asOf" | "pins"> {
  if (attempt?.kind === "as-of") return { asOf: attempt.asOf, pins: null };
  const pins = resolution?.pins ?? null;
  return { asOf: resolution === null || pins !== null ? null : new Date(resolution.at), pins };
}

async function fetchSource(input: MakeInput, { write }: BuildWorkspace): Promise<SourceTree> {
  const { request, limits, signal, log } = input;
  const refused = (error: unknown) => new BuildFailure(notFetched(error, request.sourceRemedy), error);
  const tarball = await request.openTarball(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw refused(error);
  });
  const writeSource = (entries: AsyncIterable<VolumeEntry>) => write("source", entries);
  const whole = await extractSource(tarball, writeSource, limits.source, signal).catch((error: unknown) => {
    throw error instanceof TowpathError ? refused(error) : error;
  });
  const count = countOf(whole.entries.length, "file");
  log("fetch", "step", `Source: ${count}.`);
  const root = posix.normalize(request.rootDirectory ?? ".").replace(/^\/|\/$/g, "");
  if (root === "" || root === ".") {
    log("fetch", "result", count);
    return whole;
  }
  const part = root.startsWith("..") ? null : subtree(whole, root);
  if (part === null) throw new BuildFailure(rootMissing(root));
  const found = countOf(part.entries.length, "file");
  log("fetch", "step", `Root directory: ${root} (set under Settings → Build); ${found}.`);
  log("fetch", "result", `${found} in ${root}`);
  return part;
}

/** The plan of the tree or, where it offers nothing and the settings leave it open, of its only project with a server. */
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

async function planTree(input: MakeInput, source: SourceTree, workspace: BuildWorkspace): Promise<Planned> {
  const { config, driver, limits, log, signal, warn } = input;
  const { entrypoint, arguments: words, requirements, rootDirectory } = input.request;
  const planned = await planSource(
    source,
    { entrypoint, arguments: words, requirements, rootDirectory, isInstalled: input.attempt?.kind === "installed" },
    { read: (path, maxBytes) => workspace.read("source", path, maxBytes), timeoutMs: limits.planMs, signal },
  );
  const plan = input.request.isPackage ? ofPackage(planned) : planned;
  for (const { kind, text } of plan.notes) log("plan", kind, text);
  const { renewsLock } = plan.dependencies;
  if (renewsLock !== null) warn("plan", lockRenewed(renewsLock));
  const { version, from, warning } =
    (await pythonOf(input)) ?? (await findPython(plan.python, config.defaultPython, driver.host.pythons));
  if (warning !== null) warn("plan", warning);
  log("plan", "step", `Using Python ${version}${from === null ? "" : `, downloaded from ${from} and checked`}.`);
  const chosen = [`Python ${version}`, plan.dependencies.file, commandOf(plan.program)].filter(Boolean).join(", ");
  log("plan", "result", chosen);
  return { plan, pythonVersion: version, source };
}

/** The Python of the earlier build; null if this host doesn't have it. */
async function pythonOf({ request: { resolution }, driver }: MakeInput): Promise<FoundPython | null> {
  const version = resolution && (await driver.host.pythons.find(resolution.pythonVersion));
  return version === null ? null : { version, from: null, warning: null };
}

/** The one directory in which a failed plan found a server; null when there are several, or none. */
function onlyServerDirectory(error: unknown): string | null {
  const action = error instanceof BuildFailure ? error.diagnosis.action : null;
  const [only, ...others] = action?.kind === "root-directory" ? action.candidates : [];
  return only !== undefined && others.length === 0 ? only : null;
}
