import { existsSync } from "node:fs";
import type { Limits } from "@towpath/runtime";
import { defaultExtractLimits, type ExtractLimits } from "./fetch/index.ts";

/**
 * What a builder needs to know of its host and its operator. A value: read from the environment in the process's own
 * config.
 */
export type BuilderConfig = {
  /** TOWPATH_DATA_DIR: build scratch and caches are below it, on one file system. */
  readonly dataDirectory: string;
  /** Path of uv, or its name in PATH; a script that leads to it will do. TOWPATH_UV. */
  readonly uv: string;
  /**
   * Settings for uv that every build gets; see `pickBuildEnvironment`. Tenants' build scripts can read them, so an
   * index's password given here is known to whoever may deploy.
   */
  readonly buildEnvironment: Readonly<Record<string, string>>;
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
  /** A build that leaves less than this free on the disk is stopped: everybody shares the disk. */
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

const operatorSettings =
  /^(UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_STRATEGY|INSECURE_HOST|INDEX_[A-Z0-9_]+_(USERNAME|PASSWORD)|HTTP_TIMEOUT|HTTP_RETRIES|HTTP_CONNECT_TIMEOUT|REQUEST_TIMEOUT|EXCLUDE_NEWER|NATIVE_TLS|SYSTEM_CERTS|CONCURRENT_(DOWNLOADS|BUILDS|INSTALLS)|HTTPS?_PROXY|NO_PROXY)|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|https?_proxy|all_proxy|no_proxy|SSL_CERT_FILE)$/;

/** Debian's and its relatives' store; sandboxes see the host's. */
const hostCertificates = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Those of an environment that builds get: index, proxy and certificate settings of the operator, nothing else. Where
 * the host has a certificate store it counts, because that is where an operator puts the company's own authority;
 * elsewhere uv's built-in list does.
 */
export function pickBuildEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  hostHasCertificates: boolean = existsSync(hostCertificates),
): Record<string, string> {
  const given = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && value !== "" && operatorSettings.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries([...(hostHasCertificates ? [["UV_SYSTEM_CERTS", "1"] as const] : []), ...given]);
}
