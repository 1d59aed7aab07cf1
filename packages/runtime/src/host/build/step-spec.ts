import { fileURLToPath } from "node:url";
import { serverHome } from "../../harness-command.ts";
import { type BuildSpec, type BuildStep, type BuildVolume, buildImage } from "../../port/builds.ts";
import { stepDirectory, stepEnvironment } from "../../step-environment.ts";
import type { SandboxSpec } from "../engine.ts";
import { pythonMount, type ResolvedPython } from "../python/resolve-python.ts";

const certificates = "/etc/ssl/towpath-operator.pem";
const layerScript = fileURLToPath(new URL("./layer.py", import.meta.url));
/** In a sandbox, the only configuration that uv reads apart from the project's own. */
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
      ...stepEnvironment(environment, {
        home: serverHome,
        certificates: ca === undefined ? null : certificates,
        // With hard links into the cache, a later build could change a finished layer; see `shareWithCache`.
        links: files.clones ? "clone" : "copy",
      }),
      ...python.env,
    },
    workingDirectory: stepDirectory(step),
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
