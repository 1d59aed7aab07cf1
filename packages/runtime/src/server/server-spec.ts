import type { Limits, SandboxSpec } from "../port.ts";
import { pythonMount, type ResolvedPython } from "../python/resolve-python.ts";
import { sandboxHome } from "../sandbox/system-files.ts";
import {
  codePath,
  dependencyPath,
  harnessPath,
  inspectPath,
  runtimeDirectory,
  socketName,
  statusName,
} from "./inside-paths.ts";

export type ServerSpecInput = {
  readonly python: ResolvedPython;
  /** Folder of the dependency layer on the host: a virtual environment made at /app/.venv. */
  readonly dependencies: string;
  /** Folder of the code layer on the host. */
  readonly code: string;
  /** Folder on the host that holds the package `towpath_runner`. */
  readonly harness: string;
  /** `file.py:object`, relative to the code layer. */
  readonly entrypoint: string;
  /** Secrets and TOWPATH_CLOUD_* (RUN-4). */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Limits;
  /** Serve MCP at `inspectPath` too, past the server's own sign-in. For builds: nobody else is at the socket then. */
  readonly inspectable?: boolean;
};

const searchPath = `${dependencyPath}/bin:/usr/local/bin:/usr/bin:/bin`;

/** The sandbox of a server, from its layers. Builds inspect a server in the same one that later runs it. Pure. */
export function serverSandboxSpec(input: ServerSpecInput): SandboxSpec {
  const { python, environment } = input;
  const ownPythonPath = environment.PYTHONPATH === undefined ? "" : `:${environment.PYTHONPATH}`;
  return {
    argv: [
      `${dependencyPath}/bin/python`,
      "-m",
      "towpath_runner",
      `--entrypoint=${input.entrypoint}`,
      `--socket=${runtimeDirectory}/${socketName}`,
      `--status=${runtimeDirectory}/${statusName}`,
      ...(input.inspectable === true ? [`--inspect-path=${inspectPath}`] : []),
    ],
    env: {
      PATH: searchPath,
      HOME: sandboxHome,
      LANG: "C.UTF-8",
      TMPDIR: "/tmp",
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      ...python.env,
      ...environment,
      VIRTUAL_ENV: dependencyPath,
      // `-m` puts the working folder first: a repository's own types.py would end Python before the harness begins. The
      // harness takes this away again before the server's code runs. Python 3.10 does not know it.
      PYTHONSAFEPATH: "1",
      PYTHONPATH: `${harnessPath}${ownPythonPath}`,
    },
    workingDirectory: codePath,
    mounts: [
      pythonMount(python),
      { host: input.dependencies, inside: dependencyPath, writable: false },
      { host: input.code, inside: codePath, writable: false },
      { host: input.harness, inside: harnessPath, writable: false },
    ],
    limits: input.limits,
    network: "internet",
  };
}
