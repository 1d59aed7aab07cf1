import { fileURLToPath } from "node:url";
import {
  dataPath,
  harnessCommand,
  harnessPath,
  layerPath,
  runtimeDirectory,
  statusName,
} from "../../harness-command.ts";
import { codePath, dependencyPath } from "../../port/builds.ts";
import type { ServerSpec } from "../../port/servers.ts";
import type { SandboxSpec } from "../engine.ts";
import { pythonMount, type ResolvedPython } from "../python/resolve-python.ts";
import { checkSpec } from "../sandbox/arguments.ts";

export { runtimeDirectory, statusName };

export const socketName = "mcp.sock";
/** Where an interpreter that forks is asked to. */
export const forkSocketName = "fork.sock";

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

/**
 * The command of a server with its environment and mounts. A build inspects a server with the same. `startTimeoutMs`: after
 * which the start ends; the harness's default if omitted. Pure.
 */
export function serverSandboxSpec(server: ServerSpec, files: ServerFiles, startTimeoutMs?: number): SandboxSpec {
  const listen = `${runtimeDirectory}/${socketName}`;
  return {
    ...harnessCommand(server, { listen, startTimeoutMs, pythonEnvironment: files.python.env }),
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

/** The command of an interpreter that such ones are forked from, with the same view. Pure. */
export function forkingSandboxSpec(server: Pick<ServerSpec, "limits" | "network">, files: ServerFiles): SandboxSpec {
  const waiting = prewarmSandboxSpec(server, files);
  const { env, insideExecutable } = files.python;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return {
    ...waiting,
    argv: [...waiting.argv, `${runtimeDirectory}/${forkSocketName}`],
    forks: {
      python: variables.length === 0 ? [insideExecutable] : ["/usr/bin/env", "--", ...variables, insideExecutable],
    },
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
