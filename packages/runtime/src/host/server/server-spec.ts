import { fileURLToPath } from "node:url";
import { codePath, dependencyPath } from "../../port/builds.ts";
import { inspectPath, type ServerSpec } from "../../port/servers.ts";
import type { SandboxSpec } from "../engine.ts";
import { pythonMount, type ResolvedPython } from "../python/resolve-python.ts";
import { checkSpec, homeEnvironment, sandboxHome } from "../sandbox/arguments.ts";

// Where a server finds its files, with the paths of the build image. The same on every host, so that layers need no
// relocation. Its working directory `codePath` is a copy of its code, in memory, that it may change (decision 044).

/** The code layer, from which the harness makes the copy. */
const layerPath = "/app/layer";
/** Lasting data, if the server's owner has enabled it; else in memory, too. */
const dataPath = "/data";
/** The harness: the directory that holds the package towpath_runner. */
const harnessPath = "/opt/towpath";
/** Writable: the server's socket, and the reason if it did not start. */
export const runtimeDirectory = "/run/towpath";
export const socketName = "mcp.sock";
export const statusName = "status.json";

/** The harness on the host: the directory of this checkout that holds the package towpath_runner. */
export const harnessDirectory = fileURLToPath(new URL("../../../../../python/towpath_runner", import.meta.url));

/** The parts of a server on this host. Absolute paths. */
export type ServerFiles = {
  readonly python: ResolvedPython;
  readonly dependencies: string;
  readonly code: string;
  readonly harness: string;
  /** Outlives the server; absent for most. */
  readonly data?: string;
};

const searchPath = `${dependencyPath}/bin:/usr/local/bin:/usr/bin:/bin`;

/**
 * The command of a server with its environment and mounts. A build inspects a server with the same. `startTimeoutMs`: after
 * which the start ends; the harness's default if omitted. Pure.
 */
export function serverSandboxSpec(server: ServerSpec, files: ServerFiles, startTimeoutMs?: number): SandboxSpec {
  const { environment } = server;
  const ownPythonPath = environment.PYTHONPATH === undefined ? "" : `:${environment.PYTHONPATH}`;
  return {
    argv: [
      `${dependencyPath}/bin/python`,
      "-m",
      "towpath_runner",
      `--layer=${layerPath}`,
      `--entrypoint=${server.entrypoint}`,
      ...(server.arguments ?? []).map((word) => `--argument=${word}`),
      `--listen=${runtimeDirectory}/${socketName}`,
      `--status=${runtimeDirectory}/${statusName}`,
      ...(startTimeoutMs === undefined ? [] : [`--start-seconds=${startTimeoutMs / 1000}`]),
      ...(server.inspectable === true ? [`--inspect-path=${inspectPath}`] : []),
    ],
    env: {
      PATH: searchPath,
      HOME: sandboxHome,
      ...homeEnvironment,
      LANG: "C.UTF-8",
      TMPDIR: "/tmp",
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      ...files.python.env,
      ...environment,
      VIRTUAL_ENV: dependencyPath,
      // `-m` puts the working directory first: a repository's own types.py would end Python before the harness begins.
      // The harness undoes this before the server's code runs. Python 3.10 ignores it.
      PYTHONSAFEPATH: "1",
      PYTHONPATH: `${harnessPath}${ownPythonPath}`,
    },
    workingDirectory: codePath,
    mounts: [
      pythonMount(files.python),
      { host: files.dependencies, inside: dependencyPath, writable: false },
      { host: files.code, inside: layerPath, writable: false },
      { host: files.harness, inside: harnessPath, writable: false },
      ...(files.data === undefined ? [] : [{ host: files.data, inside: dataPath, writable: true }]),
    ],
    scratch: files.data === undefined ? [codePath, dataPath] : [codePath],
    // The same user each time, as it owns the files.
    ...(server.dataVolume === undefined ? {} : { identity: `data:${server.dataVolume}` }),
    limits: server.limits,
    network: server.network,
  };
}

/**
 * The command of an interpreter that waits for its server, in the server's view of the file system; `files.code` is
 * still empty. Pure.
 */
export function prewarmSandboxSpec(server: Pick<ServerSpec, "limits" | "network">, files: ServerFiles): SandboxSpec {
  const layers = { dependencies: "", code: "" };
  const later = serverSandboxSpec({ ...server, layers, pythonVersion: "", entrypoint: "", environment: {} }, files);
  const [python] = later.argv;
  return {
    ...later,
    argv: [python, "-m", "towpath_runner", "--prewarm-status", `${runtimeDirectory}/${statusName}`],
    mounts: later.mounts.map((mount) => (mount.inside === layerPath ? { ...mount, filledLater: true } : mount)),
  };
}

/** Makes such an interpreter the server: arguments and environment as in an ordinary start. Pure. */
export function prewarmedStart(
  server: ServerSpec,
  files: ServerFiles,
  startTimeoutMs?: number,
): Pick<SandboxSpec, "env"> & { arguments: string[] } {
  const spec = serverSandboxSpec(server, files, startTimeoutMs);
  checkSpec(spec);
  return { env: spec.env, arguments: spec.argv.slice(["python", "-m", "towpath_runner"].length) };
}
