import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Engine, HostDriverConfig } from "../engine.ts";
import { SandboxError } from "../errors.ts";
import {
  type BuildSpec,
  type BuildStep,
  type BuildVolume,
  type BuildWorkspace,
  buildVolumes,
  type Exit,
  type RunOptions,
} from "../port.ts";
import { removeDirectory } from "../process/remove-directory.ts";
import { retryFailedSandbox } from "../process/retry-failed-sandbox.ts";
import { processStartTime } from "../process/tree.ts";
import { pythonOf, type ResolvedPython } from "../python/resolve-python.ts";
import { locateUv, type UvProgram } from "../python/uv-program.ts";
import { clonesFiles } from "./clones-files.ts";
import { shareWithCache } from "./share-with-cache.ts";
import { stepSandboxSpec } from "./step-spec.ts";
import { type DiskWatch, watchDisk } from "./watch-disk.ts";

const safeName = /^[\w-]{1,100}$/;

/** Builds on this host: volumes are directories, and a step is a sandbox that mounts some of them. */
export class HostBuilds {
  readonly #engine: Engine;
  readonly #config: HostDriverConfig;
  #uv: Promise<UvProgram> | null = null;
  #clones: Promise<boolean> | null = null;

  constructor(engine: Engine, config: HostDriverConfig) {
    this.#engine = engine;
    this.#config = config;
  }

  /** See `RuntimeDriver`. */
  async open(spec: BuildSpec): Promise<BuildWorkspace> {
    const { dataDirectory } = this.#settings();
    if (!safeName.test(spec.buildId) || !safeName.test(spec.organizationId))
      throw new SandboxError("invalid_spec", "The build's or organization's id is not valid in a path.");
    const scratch = join(dataDirectory, "builds", await scratchName(spec.buildId));
    await removeDirectory(scratch);
    const directories = Object.fromEntries(buildVolumes.map((volume) => [volume, join(scratch, volume)]));
    const cache = join(dataDirectory, "cache", "uv", spec.organizationId);
    const volumes = { ...directories, cache } as Record<BuildVolume, string>;
    for (const directory of Object.values(volumes)) await mkdir(directory, { recursive: true });
    const { diskBytes, freeBytes } = spec;
    const disk = watchDisk({ directory: scratch, cache, maxBytes: diskBytes, minFreeBytes: freeBytes });
    return {
      directory: (volume) => volumes[volume],
      image: async (pythonVersion) => await this.#image(pythonVersion),
      run: (step, options) => this.#run(step, options, { spec, volumes, disk }),
      publish: async (volume, options) => {
        // Before it is packed: the archive then fits into the space that this frees. Without it, the layer is the same.
        if (volume === "dependencies") await shareWithCache(volumes.dependencies, cache).catch(() => 0);
        return (await this.#config.layers.add(volumes[volume], options)).digest;
      },
      async close() {
        disk.stop();
        await removeDirectory(scratch);
      },
    };
  }

  /** See `RuntimeDriver`. */
  async removeLost(): Promise<number> {
    const root = join(this.#settings().dataDirectory, "builds");
    let removed = 0;
    for (const name of await readdir(root).catch(() => [])) {
      const [, pid = "", start = ""] = /^.+\.(\d+)\.(\d+)$/.exec(name) ?? [];
      if (pid !== "" && (await processStartTime(Number(pid))) === start) continue;
      await removeDirectory(join(root, name));
      removed += 1;
    }
    return removed;
  }

  async #run(step: BuildStep, options: RunOptions, build: OpenBuild): Promise<Exit> {
    const { disk, spec, volumes } = build;
    const { environment } = this.#settings();
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
    const { environment } = this.#settings();
    const image = [python.version, python.prefix, process.arch, process.platform, uv.version, environment];
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

  #settings() {
    if (this.#config.builds === undefined)
      throw new SandboxError("invalid_spec", "This driver was not made for builds.");
    return this.#config.builds;
  }
}

type OpenBuild = {
  readonly spec: BuildSpec;
  readonly volumes: Readonly<Record<BuildVolume, string>>;
  readonly disk: DiskWatch;
};

/** Contains the process's identity, so that leftovers of killed ones can be recognized. */
const scratchName = async (buildId: string) =>
  `${buildId}.${process.pid}.${(await processStartTime(process.pid)) ?? "0"}`;
