import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { SandboxSpec } from "../engine.ts";
import type { BuildSpec, BuildStep, BuildVolume } from "../port.ts";
import { pythonMount, pythonPrefix, type ResolvedPython } from "../python/resolve-python.ts";
import { sandboxHome } from "../sandbox/arguments.ts";
import { codePath, dependencyPath } from "../server/server-spec.ts";

/**
 * The build image: the paths that build steps see with every driver. The virtual environment and the code have the same
 * paths as for the server.
 */
export const buildImage = {
  uv: "/opt/uv/uv",
  /** See layer.py. */
  layerScript: "/opt/towpath-build/layer.py",
  /** The interpreter of a version such as `3.11.7`. */
  python: (version: string) => `${pythonPrefix}/bin/python${version.split(".").slice(0, 2).join(".")}`,
  /** Conventional paths of volumes. */
  source: "/app/source",
  code: codePath,
  work: "/app/build",
  dependencies: dependencyPath,
  cache: "/cache/uv",
} as const;

const certificates = "/etc/ssl/towpath-operator.pem";
const layerScript = fileURLToPath(new URL("./layer.py", import.meta.url));
/** In a sandbox, all that uv reads beside the project's own settings. */
const uvSettings = fileURLToPath(new URL("./uv.toml", import.meta.url));

/** The files of a build step on this host. Absolute paths. */
export type StepFiles = {
  readonly python: ResolvedPython;
  /** The uv binary. */
  readonly uv: string;
  readonly volumes: Readonly<Record<BuildVolume, string>>;
  /** See `pickBuildEnvironment`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the file system can copy files so that both share their bytes until one is written. */
  readonly clones: boolean;
};

/**
 * The command of a build step with its environment and mounts. Never includes the project's secrets, because it runs
 * code of package authors. All builds of an organization run as the same user, because they share a writable cache.
 * Pure.
 */
export function stepSandboxSpec(step: BuildStep, build: BuildSpec, files: StepFiles): SandboxSpec {
  const { python, environment } = files;
  const ca = environment.SSL_CERT_FILE;
  const readOnly = (host: string, inside: string) => ({ host, inside, writable: false });
  return {
    argv: step.argv,
    env: {
      ...environment,
      ...(ca === undefined ? {} : certificateSettings),
      HOME: sandboxHome,
      LANG: "C.UTF-8",
      PATH: `${buildImage.dependencies}/bin:/opt/uv:${pythonPrefix}/bin:/usr/local/bin:/usr/bin:/bin`,
      NO_COLOR: "1",
      GIT_TERMINAL_PROMPT: "0",
      VIRTUAL_ENV: buildImage.dependencies,
      UV_PROJECT_ENVIRONMENT: buildImage.dependencies,
      UV_CACHE_DIR: buildImage.cache,
      UV_PYTHON_DOWNLOADS: "never",
      UV_NO_PROGRESS: "1",
      // With hard links into the cache, a later build could change a finished layer; see `shareWithCache`.
      UV_LINK_MODE: files.clones ? "clone" : "copy",
      ...python.env,
    },
    workingDirectory: step.volumes.some(({ path }) => path === buildImage.code) ? buildImage.code : "/tmp",
    mounts: [
      pythonMount(python),
      readOnly(files.uv, buildImage.uv),
      readOnly(layerScript, buildImage.layerScript),
      readOnly(uvSettings, "/etc/uv/uv.toml"),
      ...(ca === undefined ? [] : [readOnly(ca, certificates)]),
      ...step.volumes.map(({ volume, subPath, path, access }) => ({
        host: files.volumes[volume] + (subPath === undefined ? "" : `/${subPath}`),
        inside: path,
        writable: access === "write",
      })),
    ],
    limits: build.limits,
    network: step.network,
    identity: `build:${build.organizationId}`,
  };
}

const certificateSettings = {
  SSL_CERT_FILE: certificates,
  REQUESTS_CA_BUNDLE: certificates,
  PIP_CERT: certificates,
  GIT_SSL_CAINFO: certificates,
} as const;

const operatorSettings =
  /^(UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_STRATEGY|INSECURE_HOST|INDEX_[A-Z0-9_]+_(USERNAME|PASSWORD)|HTTP_TIMEOUT|HTTP_RETRIES|HTTP_CONNECT_TIMEOUT|REQUEST_TIMEOUT|EXCLUDE_NEWER|NATIVE_TLS|SYSTEM_CERTS|CONCURRENT_(DOWNLOADS|BUILDS|INSTALLS)|HTTPS?_PROXY|NO_PROXY)|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|https?_proxy|all_proxy|no_proxy|SSL_CERT_FILE)$/;

/** The certificate store of Debian and its derivatives; sandboxes see the host's. */
const hostCertificates = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Picks the variables that builds get: the operator's index, proxy and certificate settings. If the host has a
 * certificate store, uv uses it, because it may contain the company's own authority; else uv's built-in list. Tenants'
 * build scripts can read these variables, so everyone who may deploy can see an index's password.
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
