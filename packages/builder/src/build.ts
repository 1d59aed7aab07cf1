import { posix } from "node:path";
import type { LayerCache } from "@towpath/artifacts";
import {
  type BuildPhase,
  type BuildWarning,
  type Diagnosis,
  type Layers,
  signInWarning,
} from "@towpath/core/build/contract";
import { McpClientError } from "@towpath/mcp/client";
import { type BuildWorkspace, type Endpoint, type RuntimeDriver, SandboxError } from "@towpath/runtime";
import { type BuilderConfig, type BuildLimits, defaultBuildLimits } from "./config.ts";
import type { BuildRequest, BuildResult } from "./contract.ts";
import { BuildFailure, countOf, notFetched, notIsolated, rootMissing, tooLong } from "./failure.ts";
import { extractSource } from "./fetch/extract.ts";
import { type SourceTree, subtree } from "./fetch/source-tree.ts";
import {
  type InspectedServer,
  type Inspection,
  inspectRunning,
  inspectServer,
  logManifest,
} from "./inspect/inspect.ts";
import { commandOf, type Programs, tryPrograms } from "./inspect/try-programs.ts";
import { ResolutionMemory } from "./install/dependency-layer.ts";
import { installLayers } from "./install/install.ts";
import { findPython } from "./plan/find-python.ts";
import type { Plan } from "./plan/plan.ts";
import { planSource } from "./plan/plan-source.ts";

export type Builder = {
  /**
   * Builds one commit. Resolves to a diagnosis for every error that the repository causes (BLD-2).
   * @throws the reason of `request.signal` when it is aborted, and errors of the platform
   */
  build(request: BuildRequest): Promise<BuildResult>;
  /**
   * Inspects the server of the request's layers where `start` starts it, with the request's environment. Null when that
   * tells too little: a layer is no longer stored, `start` resolves to null, the server doesn't answer as it should or
   * does its own sign-in. Then `build` finds out why.
   * @throws the reason of `request.signal` when it is aborted, and what `start` throws
   */
  inspect(request: BuildRequest, start: () => Promise<Endpoint | null>): Promise<BuildResult | null>;
  /** Removes the directories that killed builders left; call it when a process starts. Resolves to their number. */
  cleanScratch(): Promise<number>;
};

export type BuilderParts = {
  readonly driver: RuntimeDriver;
  /** Finds layers of earlier builds: the layer cache of packages/artifacts. */
  readonly layers: Pick<LayerCache, "find">;
  /** Whether the artifact store has a layer. */
  readonly isStored: (digest: string) => Promise<boolean>;
};

export function createBuilder(config: BuilderConfig, parts: BuilderParts): Builder {
  const limits = { ...defaultBuildLimits, ...config.limits };
  return {
    build: (request) => new Build(request, config, limits, parts).run(),
    inspect: (request, start) => new Build(request, config, limits, parts).inspectRunning(start),
    cleanScratch: () => parts.driver.removeLostBuilds(),
  };
}

/** Layers, and what an inspection must know of the server in them. */
type Built = Programs & { readonly layers: Layers };
type Planned = { readonly plan: Plan; readonly pythonVersion: string };

/** What is known of a server whose layers are taken over. */
const takenOver = ({ entrypoint, arguments: words }: BuildRequest): InspectedServer => ({
  program: { entrypoint, arguments: [...words] },
  entryFile: entrypoint.split(":")[0] ?? entrypoint,
  dependencies: null,
});

/** One build: the phases in order, each timed, all under one deadline. */
class Build {
  readonly #request: BuildRequest;
  readonly #config: BuilderConfig;
  readonly #limits: BuildLimits;
  readonly #driver: RuntimeDriver;
  readonly #layers: BuilderParts["layers"];
  readonly #isStored: BuilderParts["isStored"];
  readonly #timings: Partial<Record<BuildPhase, number>> = {};
  readonly #deadline: AbortSignal;
  readonly #signal: AbortSignal;
  readonly #warnings: BuildWarning[] = [];
  #phase: BuildPhase = "fetch";

  constructor(request: BuildRequest, config: BuilderConfig, limits: BuildLimits, parts: BuilderParts) {
    this.#request = request;
    this.#config = config;
    this.#limits = limits;
    this.#driver = parts.driver;
    this.#layers = parts.layers;
    this.#isStored = parts.isStored;
    this.#deadline = AbortSignal.timeout(limits.buildMs);
    this.#signal = AbortSignal.any([request.signal, this.#deadline]);
  }

  async run(): Promise<BuildResult> {
    const { signal } = this.#request;
    signal.throwIfAborted();
    try {
      const known = await this.#knownLayers();
      return await this.#inspect(known ?? (await this.#makeLayers()));
    } catch (error) {
      signal.throwIfAborted();
      const diagnosis = this.#diagnose(error);
      if (diagnosis === null) throw error;
      const { phase, title, detail, remedy } = diagnosis;
      this.#request.log(phase, "error", [title, detail, remedy].join("\n"));
      return { ok: false, diagnosis, timings: this.#timings };
    }
  }

  /** The layers that the request brings; null when it brings none, or one of them is no longer stored. */
  async #knownLayers(): Promise<Built | null> {
    const { layers, log } = this.#request;
    if (layers === null) return null;
    if (!(await this.#areStored(layers))) {
      log("fetch", "warning", "The preview's files are no longer stored, so its commit is built again.");
      return null;
    }
    this.#logTakenOver(layers);
    return { layers, server: takenOver(this.#request), others: [] };
  }

  async inspectRunning(start: () => Promise<Endpoint | null>): Promise<BuildResult | null> {
    const { layers, log, signal } = this.#request;
    if (layers === null || !(await this.#areStored(layers))) return null;
    const server = takenOver(this.#request);
    const common = { request: this.#request, server, limits: this.#limits, signal: this.#signal };
    try {
      const inspection = await this.#timed("inspect", async () => {
        const endpoint = await start();
        return endpoint && inspectRunning(common, endpoint);
      });
      if (inspection === null) return null;
      this.#logTakenOver(layers);
      if (inspection.manifest !== null) logManifest(log, inspection.manifest);
      return this.#succeed({ layers, server }, inspection);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof McpClientError) return null;
      throw error;
    }
  }

  async #areStored({ dependencies, code }: Layers): Promise<boolean> {
    const stored = await Promise.all([dependencies, code].map((digest) => this.#isStored(digest)));
    return !stored.includes(false);
  }

  #logTakenOver({ pythonVersion }: Layers): void {
    const { log } = this.#request;
    log("install", "step", `Layers: those of the preview, byte for byte, with Python ${pythonVersion}.`);
    log("install", "result", "Reused from the preview");
  }

  async #makeLayers(): Promise<Built> {
    const { buildId, organizationId } = this.#request;
    const { install, diskBytes, freeBytes } = this.#limits;
    const spec = { buildId, organizationId, limits: install, diskBytes, freeBytes };
    const workspace = await this.#driver.openBuild(spec);
    try {
      const fetched = await this.#timed("fetch", () => this.#fetch(workspace.directory("source")));
      const { plan, pythonVersion, source } = await this.#timed("plan", () => this.#planWithin(fetched));
      const layers = await this.#timed("install", () => this.#install(plan, source, pythonVersion, workspace));
      return { layers, server: plan, others: plan.others.map((other) => ({ ...plan, ...other })) };
    } finally {
      await workspace.close();
    }
  }

  async #inspect({ layers, ...programs }: Built): Promise<BuildResult> {
    const { log } = this.#request;
    const common = { request: this.#request, layers, limits: this.#limits, driver: this.#driver, signal: this.#signal };
    const { server, inspection } = await this.#timed("inspect", () =>
      tryPrograms(programs, (server) => inspectServer({ ...common, server }), log),
    );
    return this.#succeed({ layers, server }, inspection);
  }

  #succeed({ layers, server }: Omit<Built, "others">, inspection: Inspection): BuildResult {
    const { manifest, recording, warnings, ownSignIn } = inspection;
    for (const warning of warnings) this.#warn("inspect", warning);
    // Only logged: what is shown elsewhere follows the auth mode as it is then.
    const signIn = signInWarning(ownSignIn, this.#request.authMode);
    if (signIn !== null) this.#logWarning("inspect", signIn);
    const known = { manifest, recording, warnings: this.#warnings, ownSignIn };
    return { ok: true, layers, program: server.program, ...known, timings: this.#timings };
  }

  async #fetch(directory: string): Promise<SourceTree> {
    const { openTarball, rootDirectory, log } = this.#request;
    const tarball = await openTarball(this.#signal).catch((error: unknown) => {
      this.#signal.throwIfAborted();
      throw new BuildFailure(notFetched(error), error);
    });
    const whole = await extractSource(tarball, directory, this.#limits.source, this.#signal);
    const count = countOf(whole.entries.length, "file");
    log("fetch", "step", `Source: ${count}.`);
    const root = posix.normalize(rootDirectory ?? ".").replace(/^\/|\/$/g, "");
    if (root === "" || root === ".") {
      log("fetch", "result", count);
      return whole;
    }
    const part = root.startsWith("..") ? null : subtree(whole, root);
    if (part === null) throw new BuildFailure(rootMissing(root));
    const found = countOf(part.entries.length, "file");
    log("fetch", "step", `Root directory ${root}: set in the project's settings; ${found}.`);
    log("fetch", "result", `${found} in ${root}`);
    return part;
  }

  /** The plan of the tree or, where it offers nothing and the settings leave it open, of its only project with a server. */
  async #planWithin(source: SourceTree): Promise<Planned & { readonly source: SourceTree }> {
    try {
      return { ...(await this.#plan(source)), source };
    } catch (error) {
      const root = this.#request.rootDirectory === null ? onlyServerDirectory(error) : null;
      const part = root === null ? null : subtree(source, root);
      if (part === null) throw error;
      const why = "found, as the settings name none and there is no other project with a server";
      this.#request.log("plan", "step", `Root directory ${root}: ${why}.`);
      return { ...(await this.#plan(part)), source: part };
    }
  }

  async #plan(source: SourceTree): Promise<Planned> {
    const { entrypoint, arguments: words, requirements, rootDirectory, log } = this.#request;
    const plan = await planSource(
      source,
      { entrypoint, arguments: words, requirements, rootDirectory },
      { timeoutMs: this.#limits.planMs, signal: this.#signal },
    );
    for (const { kind, text } of plan.notes) log("plan", kind, text);
    const { version, from, warning } = await findPython(plan.python, this.#config.defaultPython, this.#driver);
    if (warning !== null) this.#warn("plan", warning);
    log("plan", "step", `Using Python ${version}${from === null ? "" : `, downloaded from ${from} and checked`}.`);
    log(
      "plan",
      "result",
      [`Python ${version}`, plan.dependencies.file, commandOf(plan.program)].filter(Boolean).join(", "),
    );
    return { plan, pythonVersion: version };
  }

  #install(plan: Plan, source: SourceTree, pythonVersion: string, workspace: BuildWorkspace): Promise<Layers> {
    const { buildId, organizationId, log } = this.#request;
    return installLayers({
      buildId,
      organizationId,
      plan,
      source,
      workspace,
      pythonVersion,
      limits: this.#limits,
      layers: this.#layers,
      memory: new ResolutionMemory(this.#config.dataDirectory, this.#limits.resolutionMs),
      log,
      signal: this.#signal,
    });
  }

  /** Logs a warning and adds it to the result. */
  #warn(phase: BuildPhase, warning: BuildWarning): void {
    this.#warnings.push(warning);
    this.#logWarning(phase, warning);
  }

  #logWarning(phase: BuildPhase, { title, detail, remedy }: BuildWarning): void {
    this.#request.log(phase, "warning", [title, detail, remedy].join("\n"));
  }

  async #timed<T>(phase: BuildPhase, run: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    this.#phase = phase;
    const start = performance.now();
    try {
      return await run();
    } finally {
      this.#timings[phase] = Math.round(performance.now() - start);
    }
  }

  /** Null for errors of the platform, which the caller handles. */
  #diagnose(error: unknown): Diagnosis | null {
    if (error instanceof BuildFailure) return error.diagnosis;
    if (this.#deadline.aborted) return tooLong(this.#phase, this.#limits.buildMs);
    return error instanceof SandboxError ? notIsolated(this.#phase, error) : null;
  }
}

/** The one directory in which a failed plan found a server; null when there are several, or none. */
function onlyServerDirectory(error: unknown): string | null {
  const fix = error instanceof BuildFailure ? error.diagnosis.fix : undefined;
  const [only, ...others] = fix?.kind === "root-directory" ? fix.candidates : [];
  return only !== undefined && others.length === 0 ? only : null;
}
