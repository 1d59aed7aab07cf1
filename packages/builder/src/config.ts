import type { Limits } from "@towpath/runtime";
import { defaultExtractLimits, type ExtractLimits } from "./fetch/extract.ts";

/** The operator's configuration. Each process reads it from the environment in its own config.ts. */
export type BuilderConfig = {
  /** TOWPATH_PYTHON: for repositories that request no version, for example `3.12`; null: the first that uv finds. */
  readonly defaultPython: string | null;
  readonly limits?: Partial<BuildLimits>;
};

export type BuildLimits = {
  readonly source: ExtractLimits;
  /** The whole build, BLD-13. */
  readonly buildMs: number;
  /** Planning: reading the repository's files. */
  readonly planMs: number;
  /** Each command: resolving or installing. */
  readonly installMs: number;
  /** From starting the server until its socket answers. */
  readonly startMs: number;
  /** The handshake and all lists together. */
  readonly handshakeMs: number;
  readonly outputBytes: number;
  readonly dependencyBytes: number;
  /** What a build may write to disk while installing, including its organization's cache. */
  readonly diskBytes: number;
  /** A build is stopped when less than this is free on the disk, which all tenants share. */
  readonly freeBytes: number;
  /** How long a resolution without a lock is reused for the same inputs. */
  readonly resolutionMs: number;
  readonly install: Limits;
  /** The same as for the running server. */
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
