import { dependencyPath } from "./port/builds.ts";
import { inspectPath, type ServerSpec } from "./port/servers.ts";

// Where a server finds its files, with the paths of the build image. The same with every driver, so that layers need no
// relocation. Its working directory `codePath` is a copy of its code, in memory, that it may change (decision 044).

/** The code layer, from which the harness makes the copy. */
export const layerPath = "/app/layer";
/** Lasting data, if the server's owner has enabled it; else in memory, too. */
export const dataPath = "/data";
/** The harness: the directory that holds the package towpath_runner. */
export const harnessPath = "/opt/towpath";
/** Writable: the server's socket, and the reason if it did not start. */
export const runtimeDirectory = "/run/towpath";
export const statusName = "status.json";
/** In memory, and writable. */
export const serverHome = "/home/towpath";
/** Where programs keep what is theirs, by the XDG base directory specification. */
export const homeEnvironment = {
  XDG_CACHE_HOME: `${serverHome}/.cache`,
  XDG_CONFIG_HOME: `${serverHome}/.config`,
  XDG_DATA_HOME: `${serverHome}/.local/share`,
  XDG_STATE_HOME: `${serverHome}/.local/state`,
} as const;

const searchPath = `${dependencyPath}/bin:/usr/local/bin:/usr/bin:/bin`;

/**
 * Starts the harness for a server. Pure.
 *
 * @param options.listen see the harness's option
 * @param options.harness the directory of its package, if not `harnessPath`
 * @param options.startTimeoutMs after which the start ends; the harness's default if omitted
 * @param options.pythonEnvironment what the interpreter needs
 */
export function harnessCommand(
  server: ServerSpec,
  options: {
    readonly listen: string;
    readonly harness?: string;
    readonly startTimeoutMs?: number | undefined;
    readonly pythonEnvironment?: Readonly<Record<string, string>>;
  },
): { readonly argv: readonly [string, ...string[]]; readonly env: Readonly<Record<string, string>> } {
  const { environment } = server;
  const { listen, harness = harnessPath, startTimeoutMs, pythonEnvironment } = options;
  const ownPythonPath = environment.PYTHONPATH === undefined ? "" : `:${environment.PYTHONPATH}`;
  return {
    argv: [
      `${dependencyPath}/bin/python`,
      "-m",
      "towpath_runner",
      `--layer=${layerPath}`,
      `--entrypoint=${server.entrypoint}`,
      ...(server.arguments ?? []).map((word) => `--argument=${word}`),
      `--listen=${listen}`,
      `--status=${runtimeDirectory}/${statusName}`,
      ...(startTimeoutMs === undefined ? [] : [`--start-seconds=${startTimeoutMs / 1000}`]),
      ...(server.inspectable === true ? [`--inspect-path=${inspectPath}`] : []),
    ],
    env: {
      PATH: searchPath,
      HOME: serverHome,
      ...homeEnvironment,
      LANG: "C.UTF-8",
      TMPDIR: "/tmp",
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      ...pythonEnvironment,
      ...environment,
      VIRTUAL_ENV: dependencyPath,
      // `-m` puts the working directory first: a repository's own types.py would end Python before the harness begins.
      // The harness undoes this before the server's code runs. Python 3.10 ignores it.
      PYTHONSAFEPATH: "1",
      PYTHONPATH: `${harness}${ownPythonPath}`,
    },
  };
}
