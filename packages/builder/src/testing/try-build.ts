import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ArtifactStore, type LayerCache, openArtifacts } from "@towpath/artifacts";
import type { RuntimeDriver } from "@towpath/runtime";
import {
  createSandboxDriver,
  pickBuildEnvironment,
  roomyDirectory,
  type SandboxDriverConfig,
  shortDirectory,
  strictIsolation,
} from "@towpath/runtime/testing";
import type { BuilderParts } from "../build.ts";
import {
  type Builder,
  type BuilderConfig,
  type BuildLimits,
  type BuildRequest,
  type BuildResult,
  createBuilder,
} from "../index.ts";
import { cachingOrganization, shareCache } from "./shared-cache.ts";
import { repository } from "./tarball.ts";

type LoggedLine = { readonly phase: string; readonly kind: string; readonly text: string };
export type Tried = { readonly result: BuildResult; readonly log: readonly LoggedLine[]; readonly text: string };

export type Workshop = {
  readonly dataDirectory: string;
  readonly runDirectory: string;
  readonly layers: LayerCache;
  readonly store: ArtifactStore;
  readonly driver: RuntimeDriver;
  readonly builder: Builder;
  readonly config: BuilderConfig;
  /** Builds these files with the real sandbox, uv and index. */
  tryBuild(files: Readonly<Record<string, string>>, more?: Partial<BuildRequest>): Promise<Tried>;
  close(): Promise<void>;
};

/** A builder with directories of its own. Workshops with the same `dataDirectory` share layers. */
export async function openWorkshop(
  options: {
    readonly limits?: Partial<BuildLimits>;
    readonly dataDirectory?: string;
    /** With an empty cache. */
    readonly ownCache?: boolean;
    /** Where its files count as files: those in memory count to the memory of the process that writes them. */
    readonly onDisk?: boolean;
    readonly buildEnvironment?: Readonly<Record<string, string>>;
    /** Overrides settings of the driver. */
    readonly isolation?: Partial<SandboxDriverConfig>;
    /** Without it the index doesn't say. */
    readonly uploadedAt?: BuilderParts["uploadedAt"];
  } = {},
): Promise<Workshop> {
  const runDirectory = await (options.onDisk ? shortDirectory() : roomyDirectory());
  const dataDirectory = options.dataDirectory ?? join(runDirectory, "data");
  if (options.dataDirectory === undefined) {
    await mkdir(join(dataDirectory, "cache", "uv"), { recursive: true });
    if (!options.ownCache) await shareCache(dataDirectory);
  }
  const artifacts = openArtifacts(dataDirectory);
  const driver = createSandboxDriver({
    instanceDirectory: join(runDirectory, "b"),
    layers: artifacts.layers,
    uv: "uv",
    dataDirectory,
    buildEnvironment: options.buildEnvironment ?? pickBuildEnvironment(process.env),
    stateDirectory: runDirectory,
    ...strictIsolation,
    allowHostNetwork: true,
    allowWeakLimits: true,
    ...options.isolation,
  });
  const config: BuilderConfig = {
    defaultPython: null,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
  const builder = createBuilder(config, {
    driver,
    layers: artifacts.layers,
    store: artifacts.store,
    uploadedAt: options.uploadedAt ?? (async () => null),
  });
  return {
    dataDirectory,
    runDirectory,
    layers: artifacts.layers,
    store: artifacts.store,
    driver,
    builder,
    config,
    tryBuild: (files, more) => tryBuild(builder, files, more),
    close: async () => {
      await driver.close();
      await rm(runDirectory, { recursive: true, force: true });
    },
  };
}

async function tryBuild(
  builder: Builder,
  files: Readonly<Record<string, string>>,
  more: Partial<BuildRequest> = {},
): Promise<Tried> {
  const { request, text, log } = requestOf({ openTarball: () => repository(files), ...more });
  const result = await builder.build(request);
  return { result, log, text: text() };
}

/** A request, and what is logged for it. */
export function requestOf(more: Partial<BuildRequest>) {
  const log: LoggedLine[] = [];
  const request: BuildRequest = {
    buildId: randomUUID(),
    organizationId: cachingOrganization,
    entrypoint: "server.py",
    arguments: [],
    requirements: null,
    layers: null,
    resolution: null,
    rootDirectory: null,
    isPackage: false,
    authMode: "passthrough",
    environment: {},
    startInPlace: null,
    openTarball: () => Promise.reject(new Error("this build needs no commit")),
    sourceRemedy: "Rebuild when it is there again.",
    log: (phase, kind, text) => void log.push({ phase, kind, text }),
    signal: new AbortController().signal,
    ...more,
  };
  return { request, log, text: () => log.map((line) => `${line.phase} ${line.kind} ${line.text}`).join("\n") };
}
