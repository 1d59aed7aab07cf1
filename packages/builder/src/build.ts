import type { LayerCache } from "@towpath/artifacts";
import type { Layers, Program, Resolution } from "@towpath/core/delivery/build/contract";
import { McpClientError } from "@towpath/mcp/client";
import type { RuntimeDriver, ServerEndpoint } from "@towpath/runtime";
import { type FailedBuild, isRetryable } from "./attempts/attempt.ts";
import { type Programs, tryPrograms } from "./attempts/programs.ts";
import { strategies } from "./attempts/strategies.ts";
import { type BuilderConfig, type BuildLimits, defaultBuildLimits } from "./config.ts";
import type { BuildRequest, BuildResult } from "./contract.ts";
import { diagnoseEnd, diagnoseServer } from "./diagnose/diagnose.ts";
import type { Failure, Outcome } from "./failure.ts";
import { inspectInPlace } from "./inspect/in-place.ts";
import {
  type InspectedServer,
  type Inspection,
  inspectRunning,
  inspectServer,
  logManifest,
  serverTakenOver,
} from "./inspect/inspect.ts";
import { otherServers } from "./inspect/warnings.ts";
import type { ResolutionStore } from "./install/resolution-memory.ts";
import { type BuildInput, type MadeLayers, makeLayers } from "./make-layers.ts";
import { BuildReport } from "./report.ts";

export type Builder = {
  /**
   * Builds one commit. Resolves to a diagnosis for every error that the repository causes (BLD-2).
   * @throws the reason of `request.signal` when it is aborted, and errors of the platform
   */
  build(request: BuildRequest): Promise<BuildResult>;
  /**
   * Inspects the server of the request's layers where `start` starts it, with the request's environment. Null if that
   * is not enough: a layer is no longer stored, `start` resolves to null, or the server answers incorrectly or does its
   * own sign-in. Then `build` finds out why.
   *
   * @throws the reason of `request.signal` when it is aborted, and what `start` throws
   */
  inspect(request: BuildRequest, start: () => Promise<ServerEndpoint | null>): Promise<BuildResult | null>;
};

export type BuilderParts = {
  readonly driver: RuntimeDriver;
  /** Finds layers of earlier builds: the layer cache of packages/artifacts. */
  readonly layers: Pick<LayerCache, "find" | "has">;
  readonly store: ResolutionStore;
  /** When the package index received a version; null if it doesn't say. */
  readonly uploadedAt: (name: string, version: string, signal: AbortSignal) => Promise<Date | null>;
};

export function createBuilder(config: BuilderConfig, parts: BuilderParts): Builder {
  const limits = { ...defaultBuildLimits, ...config.limits };
  return {
    build: (request) => new Build(request, config, limits, parts).run(),
    inspect: (request, start) => new Build(request, config, limits, parts).inspectRunning(start),
  };
}

/** Layers, and the programs that may start the server in them. `resolution`: null if they were taken over. */
type Layered = Programs & Pick<MadeLayers, "layers" | "servers"> & { readonly resolution: Resolution | null };

/** Layers whose server was inspected. */
type Built = Pick<Layered, "layers" | "resolution"> & { readonly program: Program; readonly inspection: Inspection };

/** One build: the phases in order, each timed, all under one deadline. */
class Build {
  readonly #request: BuildRequest;
  readonly #input: BuildInput & BuilderParts;
  readonly #report: BuildReport;
  readonly #deadline: AbortSignal;

  constructor(request: BuildRequest, config: BuilderConfig, limits: BuildLimits, parts: BuilderParts) {
    this.#request = request;
    this.#deadline = AbortSignal.timeout(limits.buildMs);
    const signal = AbortSignal.any([request.signal, this.#deadline]);
    this.#report = new BuildReport(request, signal);
    this.#input = { request, config, limits, ...parts, signal, report: this.#report };
  }

  async run(): Promise<BuildResult> {
    const { signal } = this.#request;
    signal.throwIfAborted();
    try {
      const known = await this.#knownLayers();
      const outcome = await (known === null ? this.#makeAndInspect() : this.#inspect(known));
      if (outcome.ok) return this.#report.succeed(outcome.value, outcome.value.inspection);
      signal.throwIfAborted();
      return this.#report.fail(outcome.failure.diagnosis);
    } catch (error) {
      signal.throwIfAborted();
      const found = diagnoseEnd(error, this.#report.phase, this.#deadline.aborted ? this.#input.limits.buildMs : null);
      if (found === null) throw error;
      return this.#report.fail(found);
    }
  }

  /** The layers in the request; null if it has none, or one of them is no longer stored. */
  async #knownLayers(): Promise<Layered | null> {
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
    try {
      const inspection = await this.#report.timed("inspect", async () => {
        const endpoint = await start();
        return endpoint && inspectRunning({ ...this.#input, server }, endpoint);
      });
      if (inspection === null) return null;
      this.#logTakenOver(layers);
      if (inspection.manifest !== null) logManifest(log, inspection.manifest);
      this.#report.warnOf(inspection);
      return this.#report.succeed({ layers, resolution: null, program: server.program }, inspection);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof McpClientError) return null;
      throw error;
    }
  }

  async #areStored({ dependencies, code }: Layers): Promise<boolean> {
    const stored = await Promise.all([dependencies, code].map((digest) => this.#input.layers.has(digest)));
    return !stored.includes(false);
  }

  #logTakenOver({ pythonVersion }: Layers): void {
    const { log } = this.#request;
    log("install", "step", `Layers: those of the preview, byte for byte, with Python ${pythonVersion}.`);
    log("install", "result", "Reused from the preview");
  }

  /** Builds the source's requirements; if the server fails, tries the strategies. */
  async #makeAndInspect(): Promise<Outcome<Built>> {
    const made = await makeLayers(this.#input, {}, this.#request.log);
    if (!made.ok) return made;
    const outcome = await this.#inspect(made.value);
    return outcome.ok || !isRetryable(outcome.failure) ? outcome : this.#tryAgain(made.value, outcome.failure);
  }

  async #tryAgain(made: MadeLayers, first: Failure): Promise<Outcome<Built>> {
    const { isPackage, log } = this.#request;
    const uploadedAt: FailedBuild["uploadedAt"] = ({ name, version }) =>
      this.#input.uploadedAt(name, version, this.#input.signal);
    let [last, reported, count] = [first, first, 1];
    for (const strategy of strategies) {
      const attempt = await strategy({ made, first, last, isPackage, now: new Date(), uploadedAt });
      if (attempt === null) continue;
      count += 1;
      if (count === 2) log("inspect", "step", `${first.diagnosis.title}. ${first.diagnosis.detail}`);
      // In the phase to which the build returns for it.
      log("install", "step", `Attempt ${count}: ${attempt.why}`);
      // The phases before the installation are in the log already.
      const again = await makeLayers(this.#input, attempt.changes, () => {});
      if (!again.ok) {
        log("inspect", "step", `${attempt.failed.install}: ${again.failure.diagnosis.title}.`);
        continue;
      }
      if (again.value.layers.dependencies === made.layers.dependencies) continue;
      const outcome = await this.#inspect(again.value);
      const warning = outcome.ok ? attempt.warningFor(again.value) : null;
      if (warning !== null) this.#report.warn("inspect", warning);
      if (outcome.ok || !isRetryable(outcome.failure)) return outcome;
      last = outcome.failure;
      log("inspect", "step", `${attempt.failed.start}: ${last.diagnosis.title}.`);
      reported = attempt.reportFor(last) ?? reported;
    }
    return { ok: false, failure: reported };
  }

  async #inspect({ layers, servers, resolution, ...programs }: Layered): Promise<Outcome<Built>> {
    const found = await this.#report.timed("inspect", () => this.#tryPrograms(layers, programs));
    if (!found.ok) return found;
    const { server, inspection } = found.value;
    const others = servers.filter((file) => file !== server.entryFile);
    if (others.length > 0 && others.length < servers.length)
      this.#report.warn("inspect", otherServers(server.entryFile, others));
    this.#report.warnOf(inspection);
    return { ok: true, value: { layers, resolution, program: server.program, inspection } };
  }

  /** Inspects the likeliest program where it will run, if that is enough, and leaves it running if it is right. */
  async #tryPrograms(layers: Layers, programs: Programs): ReturnType<typeof tryPrograms> {
    const input = { ...this.#input, layers };
    const inPlace = await inspectInPlace({ ...input, server: programs.server });
    const inspect = async (server: InspectedServer): Promise<Outcome<Inspection>> => {
      const known = server === programs.server ? inPlace.inspected : null;
      const inspected = known ?? (await inspectServer({ ...input, server }));
      return inspected.ok
        ? { ok: true, value: inspected.inspection }
        : { ok: false, failure: diagnoseServer(inspected.failure, input.limits) };
    };
    let isKept = false;
    try {
      const found = await tryPrograms(programs, inspect, this.#request.log);
      isKept = found.ok && found.value.server === programs.server;
      return found;
    } finally {
      if (!isKept) await inPlace.withdraw?.();
    }
  }
}
