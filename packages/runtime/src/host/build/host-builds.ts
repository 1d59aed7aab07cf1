import { randomUUID } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type BuildCaches,
  type BuildDriver,
  type BuildSpec,
  type BuildStep,
  type BuildVolume,
  type BuildWorkspace,
  buildVolumes,
  type RunOptions,
} from "../../port/builds.ts";
import { SandboxError } from "../../port/errors.ts";
import type { Exit } from "../../port/execution.ts";
import type { Engine, HostDriverConfig } from "../engine.ts";
import { removeDirectory } from "../process/remove-directory.ts";
import { retryFailedSandbox } from "../process/retry-failed-sandbox.ts";
import { pythonOf, type ResolvedPython } from "../python/resolve-python.ts";
import { locateUv, type UvProgram } from "../python/uv-program.ts";
import { cacheOf, discardCachesOfEarlierBoot, hostCaches } from "./caches.ts";
import { clonesFiles } from "./clones-files.ts";
import { shareWithCache } from "./share-with-cache.ts";
import { stepSandboxSpec } from "./step-spec.ts";
import { readEntry, writeEntries } from "./volume-files.ts";
import { type DiskWatch, watchDisk } from "./watch-disk.ts";

const safeName = /^[\w-]{1,100}$/;

/** Builds on this host: volumes are directories, and a step is a sandbox that mounts some of them. */
export class HostBuilds implements BuildDriver {
  readonly caches: BuildCaches;
  readonly #engine: Engine;
  readonly #config: HostDriverConfig;
  #uv: Promise<UvProgram> | null = null;
  #clones: Promise<boolean> | null = null;
  #caches: Promise<void> | null = null;

  constructor(engine: Engine, config: HostDriverConfig) {
    this.#engine = engine;
    this.#config = config;
    this.caches = hostCaches(config.dataDirectory);
  }

  async open(spec: BuildSpec): Promise<BuildWorkspace> {
    const { dataDirectory } = this.#config;
    if (!safeName.test(spec.buildId) || !safeName.test(spec.organizationId))
      throw new SandboxError("invalid_spec", "The build's or organization's id is not valid in a path.");
    // With a random suffix: another worker's attempt at this build may still run here.
    const scratch = join(dataDirectory, "builds", `${spec.buildId}.${randomUUID()}`);
    const directories = Object.fromEntries(buildVolumes.map((volume) => [volume, join(scratch, volume)]));
    this.#caches ??= discardCachesOfEarlierBoot(dataDirectory).catch((error: unknown) => {
      this.#caches = null;
      throw error;
    });
    await this.#caches;
    const cache = cacheOf(dataDirectory, spec.organizationId);
    const volumes = { ...directories, cache } as Record<BuildVolume, string>;
    for (const directory of Object.values(volumes)) await mkdir(directory, { recursive: true });
    const { diskBytes, freeBytes } = spec;
    const disk = watchDisk({ directory: scratch, cache, maxBytes: diskBytes, minFreeBytes: freeBytes });
    return {
      write: (volume, entries) => writeEntries(volumes[volume], entries),
      read: (volume, path, maxBytes) => readEntry(volumes[volume], path, maxBytes),
      image: async (pythonVersion) => await this.#image(pythonVersion),
      run: (step, options) => this.#run(step, options, { spec, volumes, disk }),
      publish: async (volume, options) => {
        // Before packing, which may need the space that this frees. The layer is the same without it.
        if (volume === "dependencies") await shareWithCache(volumes.dependencies, cache).catch(() => 0);
        return (await this.#config.layers.add(volumes[volume], options)).digest;
      },
      async close() {
        disk.stop();
        await removeDirectory(scratch);
      },
    };
  }

  async removeLost(running: Parameters<BuildDriver["removeLost"]>[0]): Promise<number> {
    const root = join(this.#config.dataDirectory, "builds");
    const names = await readdir(root).catch(() => []);
    if (names.length === 0) return 0;
    const buildOf = (name: string) => name.split(".", 1)[0] ?? name;
    // After listing: volumes that were opened since then aren't among them.
    const kept = await running([...new Set(names.map(buildOf))]);
    const lost = names.filter((name) => !kept.has(buildOf(name)));
    for (const name of lost) await removeDirectory(join(root, name));
    return lost.length;
  }

  async #run(step: BuildStep, options: RunOptions, build: OpenBuild): Promise<Exit> {
    const { disk, spec, volumes } = build;
    const environment = this.#config.buildEnvironment;
    this.#clones ??= clonesFiles(volumes.work, volumes.cache);
    const [python, uv, clones] = await Promise.all([this.#python(step.pythonVersion), this.#locateUv(), this.#clones]);
    const sandbox = stepSandboxSpec(step, spec, { python, uv: uv.path, volumes, environment, clones });
    // Only steps that may run code of packages: measuring a large cache is slow.
    const isWatched = step.volumes.some(({ volume }) => volume === "dependencies" || volume === "cache");
    if (!isWatched) return await this.#runSandbox(sandbox, options);
    disk.start();
    const signal = options.signal === undefined ? disk.exceeded : AbortSignal.any([options.signal, disk.exceeded]);
    const exit = await this.#runSandbox(sandbox, { ...options, signal });
    const reason = options.signal?.aborted ? null : disk.reason();
    return reason === null ? exit : { reason, code: null, signal: null };
  }

  #runSandbox(spec: Parameters<Engine["run"]>[0], options: RunOptions): Promise<Exit> {
    return retryFailedSandbox(
      options.onOutput,
      (onOutput) => this.#engine.run(spec, { ...options, onOutput }),
      (exit) => exit.reason === "exited" && exit.code !== 0,
    );
  }

  async #image(pythonVersion: string): Promise<string> {
    const [python, uv] = await Promise.all([this.#python(pythonVersion), this.#locateUv()]);
    const { buildEnvironment } = this.#config;
    const image = [python.version, python.prefix, process.arch, process.platform, uv.version, buildEnvironment];
    // An environment made outside a sandbox contains paths of the host, and doesn't work inside one.
    return JSON.stringify((await this.#engine.usesHostPaths()) ? [...image, "host paths"] : image);
  }

  #python(version: string): Promise<ResolvedPython> {
    return pythonOf(version, this.#config);
  }

  #locateUv(): Promise<UvProgram> {
    this.#uv ??= locateUv(this.#config.uv).catch((error: unknown) => {
      this.#uv = null;
      throw error;
    });
    return this.#uv;
  }
}

type OpenBuild = {
  readonly spec: BuildSpec;
  readonly volumes: Readonly<Record<BuildVolume, string>>;
  readonly disk: DiskWatch;
};
