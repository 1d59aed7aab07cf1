import {
  codePath,
  dependencyPath,
  type Mount,
  pythonMount,
  pythonPrefix,
  type ResolvedPython,
  type SandboxSpec,
  sandboxHome,
} from "@towpath/runtime";
import type { BuilderConfig, BuildLimits } from "../config.ts";

/** Where a build sees its things. The virtual environment and the code stand where the server will see them. */
export const inside = {
  uv: "/opt/uv/uv",
  script: "/opt/towpath-build/layer.py",
  cache: "/cache/uv",
  work: "/app/build",
  source: "/app/source",
  dependencies: dependencyPath,
  code: codePath,
} as const;

const certificates = "/etc/ssl/towpath-operator.pem";

export type StepFolders = {
  /** Folders on the host by the place where the step sees them; writable ones are named so. */
  readonly readOnly: Partial<Record<"source" | "code" | "work" | "dependencies", string>>;
  readonly writable: Partial<Record<"code" | "work" | "dependencies" | "cache", string>>;
};

export type BuildSandbox = {
  readonly config: BuilderConfig;
  readonly limits: BuildLimits;
  readonly script: string;
  readonly python: ResolvedPython;
  /** All builds of an organization are one user of the host: they share a cache that they may write to. */
  readonly organizationId: string;
};

/**
 * The sandbox of one build step. Pure. It never has the project's secrets: what runs in it is code of whoever wrote
 * a package.
 */
export function stepSpec(
  sandbox: BuildSandbox,
  argv: readonly [string, ...string[]],
  folders: StepFolders,
  network: SandboxSpec["network"],
): SandboxSpec {
  const { config, limits, python, organizationId } = sandbox;
  const ca = config.buildEnvironment.SSL_CERT_FILE;
  return {
    argv,
    env: { ...environment(sandbox), ...python.env },
    workingDirectory: "code" in folders.readOnly || "code" in folders.writable ? inside.code : "/tmp",
    mounts: [
      pythonMount(python),
      { host: config.uv, inside: inside.uv, writable: false },
      { host: sandbox.script, inside: inside.script, writable: false },
      ...(ca === undefined ? [] : [{ host: ca, inside: certificates, writable: false }]),
      ...mountsOf(folders.readOnly, false),
      ...mountsOf(folders.writable, true),
    ],
    limits: limits.install,
    network,
    identity: `build:${organizationId}`,
  };
}

function mountsOf(folders: Readonly<Record<string, string | undefined>>, writable: boolean): Mount[] {
  return Object.entries(folders).flatMap(([place, host]) =>
    host === undefined ? [] : [{ host, inside: inside[place as keyof typeof inside], writable }],
  );
}

function environment({ config }: BuildSandbox): Record<string, string> {
  const ca = config.buildEnvironment.SSL_CERT_FILE === undefined ? {} : certificateSettings;
  return {
    ...config.buildEnvironment,
    ...ca,
    HOME: sandboxHome,
    LANG: "C.UTF-8",
    PATH: `${inside.dependencies}/bin:/opt/uv:${pythonPrefix}/bin:/usr/local/bin:/usr/bin:/bin`,
    NO_COLOR: "1",
    GIT_TERMINAL_PROMPT: "0",
    VIRTUAL_ENV: inside.dependencies,
    UV_PROJECT_ENVIRONMENT: inside.dependencies,
    UV_CACHE_DIR: inside.cache,
    UV_PYTHON_DOWNLOADS: "never",
    UV_NO_PROGRESS: "1",
    // A hard link into the cache would let a later build of the organization change a finished layer.
    UV_LINK_MODE: "copy",
    UV_COMPILE_BYTECODE: "1",
    // Layers are copied and renamed; bytecode must not be compared with times of files.
    PYC_INVALIDATION_MODE: "UNCHECKED_HASH",
  };
}

const certificateSettings = {
  SSL_CERT_FILE: certificates,
  REQUESTS_CA_BUNDLE: certificates,
  PIP_CERT: certificates,
  GIT_SSL_CAINFO: certificates,
} as const;
