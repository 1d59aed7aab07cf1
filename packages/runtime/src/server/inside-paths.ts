import { fileURLToPath } from "node:url";

// Where a server finds its things in the sandbox. The same on every host, so that layers need no relocation.

/** The Python installation (its prefix); the interpreter is below `bin`. */
export const pythonPrefix = "/opt/python";
/** The dependency layer: a virtual environment. Builds make it at the same path. */
export const dependencyPath = "/app/.venv";
/** The code layer: working directory of the server. */
export const codePath = "/app/src";
/** The harness: the folder that holds the package towpath_runner. */
export const harnessPath = "/opt/towpath";
/** Writable: the server's socket and status. */
export const runtimeDirectory = "/run/towpath";
export const socketName = "mcp.sock";
export const statusName = "status.json";

/** On the socket of a server that a build inspects: its MCP endpoint without what the server puts before it. */
export const inspectPath = "/-/towpath/inspect";

/** The harness on the host: the folder of this checkout that holds the package towpath_runner. */
export const harnessDirectory = fileURLToPath(new URL("../../../../python/towpath_runner", import.meta.url));
