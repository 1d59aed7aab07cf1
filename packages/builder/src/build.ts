import type { LayerCache } from "@towpath/artifacts";
import {
  type BuildPhase,
  type BuildWarning,
  type Diagnosis,
  type Layers,
  type Resolution,
  signInWarning,
} from "@towpath/core/build/contract";
import { McpClientError } from "@towpath/mcp/client";
import { type RuntimeDriver, SandboxError, type ServerEndpoint } from "@towpath/runtime";
import { type BuilderConfig, type BuildLimits, defaultBuildLimits } from "./config.ts";
import type { BuildLogSink, BuildRequest, BuildResult } from "./contract.ts";
import { failureOfPackage, warningOfPackage } from "./diagnose/for-packages.ts";
import { withTerminal } from "./diagnose/in-terminal.ts";
import { BuildFailure, located, notIsolated, tooLong } from "./failure.ts";
import type { SourceTree } from "./fetch/source-tree.ts";
import { inspectInPlace } from "./inspect/in-place.ts";
import {
  type InspectedServer,
  type Inspection,
  inspectRunning,
  inspectServer,
  logManifest,
  serverTakenOver,
} from "./inspect/inspect.ts";
import { type Programs, tryPrograms } from "./inspect/try-programs.ts";
import { otherServers } from "./inspect/warnings.ts";
import { type MadeLayers, makeLayers } from "./make-layers.ts";
import {
  type Attempt,
  besides,
  cameToNothing,
  changedVersions,
  isBeyond,
  isFurther,
  laterAttempts,
  mayBeMended,
  type NewestPin,
  otherVersions,
  releaseOfItsTime,
  stepBack,
  tryingAgain,
} from "./second-attempt.ts";

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
  inspect(request: BuildRequest, start: () => Promise<ServerEndpoint | null>): Promise<BuildResult | null>;
  /** Removes the directories that killed builders left; call it when a process starts. Resolves to their number. */
  cleanScratch(): Promise<number>;
};

export type BuilderParts = {
  readonly driver: RuntimeDriver;
  /** Finds layers of earlier builds: the layer cache of packages/artifacts. */
  readonly layers: Pick<LayerCache, "find" | "has">;
  /** When the package index got a version; null where it doesn't say. */
  readonly uploadedAt: (name: string, version: string, signal: AbortSignal) => Promise<Date | null>;
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
type Built = Programs & Pick<MadeLayers, "layers" | "servers"> & { readonly resolution: Resolution | null };

/** One build: the phases in order, each timed, all under one deadline. */
class Build {
  readonly #request: BuildRequest;
  readonly #config: BuilderConfig;
  readonly #limits: BuildLimits;
  readonly #driver: RuntimeDriver;
  readonly #layers: BuilderParts["layers"];
  readonly #uploadedAt: BuilderParts["uploadedAt"];
  readonly #timings: Partial<Record<BuildPhase, number>> = {};
  readonly #deadline: AbortSignal;
  readonly #signal: AbortSignal;
  readonly #warnings: BuildWarning[] = [];
  #phase: BuildPhase = "fetch";
  #source: SourceTree | null = null;
  /** The log has the phases before already. */
  #isRepeating = false;

  /** For what a second attempt does again. */
  readonly #logOnce: BuildLogSink = (phase, kind, text) => {
    if (!this.#isRepeating) this.#request.log(phase, kind, text);
  };

  constructor(request: BuildRequest, config: BuilderConfig, limits: BuildLimits, parts: BuilderParts) {
    this.#request = request;
    this.#config = config;
    this.#limits = limits;
    this.#driver = parts.driver;
    this.#layers = parts.layers;
    this.#uploadedAt = parts.uploadedAt;
    this.#deadline = AbortSignal.timeout(limits.buildMs);
    this.#signal = AbortSignal.any([request.signal, this.#deadline]);
  }

  async run(): Promise<BuildResult> {
    const { signal } = this.#request;
    signal.throwIfAborted();
    try {
      const known = await this.#knownLayers();
      return await (known === null ? this.#makeAndInspect() : this.#inspect(known));
    } catch (error) {
      signal.throwIfAborted();
      const found = this.#diagnose(error);
      if (found === null) throw error;
      const { isPackage } = this.#request;
      const diagnosis = withTerminal(isPackage ? failureOfPackage(found) : located(found, this.#source));
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
    const server = serverTakenOver(this.#request);
    return { layers, server, others: [], isGuess: false, servers: [], resolution: null };
  }

  async inspectRunning(start: () => Promise<ServerEndpoint | null>): Promise<BuildResult | null> {
    const { layers, log, signal } = this.#request;
    if (layers === null || !(await this.#areStored(layers))) return null;
    const server = serverTakenOver(this.#request);
    const common = { request: this.#request, server, limits: this.#limits, signal: this.#signal };
    try {
      const inspection = await this.#timed("inspect", async () => {
        const endpoint = await start();
        return endpoint && inspectRunning(common, endpoint);
      });
      if (inspection === null) return null;
      this.#logTakenOver(layers);
      if (inspection.manifest !== null) logManifest(log, inspection.manifest);
      return this.#succeed({ layers, server, resolution: null }, inspection);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof McpClientError) return null;
      throw error;
    }
  }

  async #areStored({ dependencies, code }: Layers): Promise<boolean> {
    const stored = await Promise.all([dependencies, code].map((digest) => this.#layers.has(digest)));
    return !stored.includes(false);
  }

  #logTakenOver({ pythonVersion }: Layers): void {
    const { log } = this.#request;
    log("install", "step", `Layers: those of the preview, byte for byte, with Python ${pythonVersion}.`);
    log("install", "result", "Reused from the preview");
  }

  /** If what the dependencies released since breaks the server, others are tried; if its place does, it is installed. */
  async #makeAndInspect(): Promise<BuildResult> {
    const made = await this.#makeLayers(null);
    try {
      return await this.#inspect(made);
    } catch (error) {
      if (!(error instanceof BuildFailure)) throw error;
      const { title, detail } = error.diagnosis;
      let furthest = error;
      const { isPackage } = this.#request;
      const pinned = mayBeMended(error) ? await this.#newestPin(made, error) : null;
      const attempts = [...laterAttempts(error, { ...made, pinned, isPackage, now: new Date() })];
      if (attempts.length > 0) this.#request.log("inspect", "step", `${title}. ${detail}`);
      for (let attempt = attempts.shift(), count = 2; attempt !== undefined; attempt = attempts.shift(), count++) {
        this.#isRepeating = true;
        // In the phase to which the build goes back for it.
        this.#request.log("install", "step", `Attempt ${count}: ${tryingAgain(attempt)}`);
        const result = await this.#tryWith(attempt, made, error);
        if (result !== null && !(result instanceof BuildFailure)) return result;
        if (result === null) continue;
        if (isBeyond(attempt, result)) furthest = besides(attempt, error, result);
        const further = stepBack(attempt, result);
        if (further !== null) attempts.unshift(further);
      }
      throw furthest;
    }
  }

  #newestPin(made: MadeLayers, error: BuildFailure): Promise<NewestPin | null> {
    return releaseOfItsTime(made, error, ({ name, version }) => this.#uploadedAt(name, version, this.#signal));
  }

  /** The failure if the server doesn't start so either; null if such versions can't be had. @throws BuildFailure that tells more */
  async #tryWith(attempt: Attempt, first: MadeLayers, error: BuildFailure): Promise<BuildResult | BuildFailure | null> {
    const { log, isPackage } = this.#request;
    const failed = (why: string) => (again: unknown) => {
      if (!(again instanceof BuildFailure) || isFurther(again)) throw again;
      log("inspect", "step", `${why}: ${again.diagnosis.title}.`);
      return again;
    };
    const { unmade, unstarted } = cameToNothing(attempt);
    const made = await this.#makeLayers(attempt).catch(failed(unmade));
    if (made instanceof BuildFailure || made.layers.dependencies === first.layers.dependencies) return null;
    const result = await this.#inspect(made).catch(failed(unstarted));
    if (result instanceof BuildFailure) return result;
    if (attempt.kind === "installed") return result;
    const { title, detail } = error.diagnosis;
    const changed = changedVersions(made.exact, first.exact, `${title} ${detail}`);
    this.#warn("inspect", otherVersions(error, attempt, { changed, plan: first.plan, isPackage }));
    return result.ok ? { ...result, warnings: this.#warnings } : result;
  }

  #makeLayers(attempt: Attempt | null): Promise<MadeLayers> {
    return makeLayers({
      ...{ request: this.#request, config: this.#config, limits: this.#limits, signal: this.#signal, attempt },
      ...{ driver: this.#driver, layers: this.#layers },
      log: this.#logOnce,
      onSource: (source) => {
        this.#source = source;
      },
      warn: (phase, warning) => this.#warn(phase, warning),
      timed: (phase, run) => this.#timed(phase, run),
    });
  }

  async #inspect({ layers, servers, resolution, ...programs }: Built): Promise<BuildResult> {
    const { log } = this.#request;
    const common = { request: this.#request, layers, limits: this.#limits, driver: this.#driver, signal: this.#signal };
    const { server, inspection } = await this.#timed("inspect", async () => {
      const { server } = programs;
      const { inspection: first, withdraw } = await inspectInPlace({ ...common, server });
      let isKept = false;
      try {
        const inspect = (each: InspectedServer) => inspectServer({ ...common, server: each });
        const found = await tryPrograms(programs, { inspect, log, ...(first && { first }) });
        isKept = found.server === server;
        return found;
      } finally {
        if (!isKept) await withdraw?.();
      }
    });
    const others = servers.filter((file) => file !== server.entryFile);
    if (others.length > 0 && others.length < servers.length)
      this.#warn("inspect", otherServers(server.entryFile, others));
    return this.#succeed({ layers, server, resolution }, inspection);
  }

  #succeed(made: Pick<Built, "layers" | "server" | "resolution">, inspection: Inspection): BuildResult {
    const { layers, server, resolution } = made;
    const { manifest, recording, warnings, ownSignIn } = inspection;
    for (const warning of warnings) this.#warn("inspect", warning);
    // Only logged: what is shown elsewhere follows the auth mode as it is then.
    const signIn = signInWarning(ownSignIn, this.#request.authMode);
    if (signIn !== null) this.#logWarning("inspect", signIn);
    const known = { manifest, recording, warnings: this.#warnings, ownSignIn };
    return { ok: true, layers, resolution, program: server.program, ...known, timings: this.#timings };
  }

  /** Logs a warning and adds it to the result. */
  #warn(phase: BuildPhase, warning: BuildWarning): void {
    if (this.#warnings.some(({ code }) => code === warning.code && phase === "plan")) return;
    this.#warnings.push(this.#logWarning(phase, warning));
  }

  /** Returns the warning, with what its user can do. */
  #logWarning(phase: BuildPhase, found: BuildWarning): BuildWarning {
    const warning = withTerminal(this.#request.isPackage ? warningOfPackage(found) : found);
    const { title, detail, remedy } = warning;
    this.#request.log(phase, "warning", [title, detail, remedy].join("\n"));
    return warning;
  }

  async #timed<T>(phase: BuildPhase, run: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    this.#phase = phase;
    const start = performance.now();
    try {
      return await run();
    } finally {
      this.#timings[phase] = (this.#timings[phase] ?? 0) + Math.round(performance.now() - start);
    }
  }

  /** Null for errors of the platform, which the caller handles. */
  #diagnose(error: unknown): Diagnosis | null {
    if (error instanceof BuildFailure) return error.diagnosis;
    if (this.#deadline.aborted) return tooLong(this.#phase, this.#limits.buildMs);
    return error instanceof SandboxError ? notIsolated(this.#phase, error) : null;
  }
}
