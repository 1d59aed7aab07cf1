import type { Limits } from "@towpath/runtime";
import { defaultExtractLimits, type ExtractLimits } from "./fetch/index.ts";

/**
 * What a builder needs to know of its host and its operator. A value: read from the environment in the process's own
 * config.
 */
export type BuilderConfig = {
  /** TOWPATH_DATA_DIR: a cache of resolved versions is below it. */
  readonly dataDirectory: string;
  /** Python to take when a repository asks for none, for example `3.12`; null: what uv finds first. TOWPATH_PYTHON. */
  readonly defaultPython: string | null;
  readonly limits?: Partial<BuildLimits>;
};

export type BuildLimits = {
  readonly source: ExtractLimits;
  /** The whole build, BLD-13. */
  readonly buildMs: number;
  /** Planning: reading the repository's files. */
  readonly planMs: number;
  /** One tool: resolving or installing. */
  readonly installMs: number;
  /** From the server's start to an answering socket. */
  readonly startMs: number;
  /** The handshake and all lists. */
  readonly handshakeMs: number;
  readonly outputBytes: number;
  readonly dependencyBytes: number;
  /** What a build may write to disk while it installs, including what it adds to its organization's cache. */
  readonly diskBytes: number;
  /** A build that leaves less than this free on the disk is stopped: all tenants share the disk. */
  readonly freeBytes: number;
  /** How long a resolution without a lock is taken again for the same question. */
  readonly resolutionMs: number;
  readonly install: Limits;
  /** The same that the server gets when it runs. */
  readonly server: Limits;
};

const MiB = 1024 * 1024;

export const defaultBuildLimits: BuildLimits = {
  source: defaultExtractLimits,
  buildMs: 15 * 60_000,
  planMs: 30_000,
  installMs: 10 * 60_000,
  startMs: 60_000,
  handshakeMs: 30_000,
  outputBytes: 4 * MiB,
  dependencyBytes: 2_048 * MiB,
  diskBytes: 4_096 * MiB,
  freeBytes: 1_024 * MiB,
  resolutionMs: 24 * 60 * 60_000,
  install: {
    memoryBytes: 2_048 * MiB,
    processes: 256,
    cpus: 2,
    tmpBytes: 512 * MiB,
    fileBytes: 2_048 * MiB,
  },
  server: { memoryBytes: 512 * MiB, processes: 256, cpus: 1, tmpBytes: 256 * MiB },
};
