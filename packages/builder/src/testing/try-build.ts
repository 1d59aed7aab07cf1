import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ArtifactStore, type LayerCache, openArtifacts } from "@towpath/artifacts";
import type { DatabaseClient } from "@towpath/db";
import { createTestDatabase } from "@towpath/db/testing";
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
  /** Holds the tags of the layers. */
  readonly database: DatabaseClient;
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

/** A builder with its own directories and database. Workshops that share both share layers. */
export async function openWorkshop(
  options: {
    readonly limits?: Partial<BuildLimits>;
    readonly dataDirectory?: string;
    readonly database?: DatabaseClient;
    /** With an empty cache. */
    readonly ownCache?: boolean;
    /** Where files count as disk: in memory they count as memory of the process that writes them. */
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
  const database = options.database ?? (await createTestDatabase());
  const { layers, store } = openArtifacts({ db: database.db, dataDirectory, config: null });
  const driver = createSandboxDriver({
    instanceDirectory: join(runDirectory, "b"),
    layers,
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
    layers,
    store,
    uploadedAt: options.uploadedAt ?? (async () => null),
  });
  return {
    dataDirectory,
    database,
    runDirectory,
    layers,
    store,
    driver,
    builder,
    config,
    tryBuild: (files, more) => tryBuild(builder, files, more),
    close: async () => {
      await driver.close();
      if (options.database === undefined) await database.close();
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

/** A request, and its log. */
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
