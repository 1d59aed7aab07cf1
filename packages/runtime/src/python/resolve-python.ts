import { execFile } from "node:child_process";
import { basename, relative } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { interpreterEnvironment } from "../config.ts";
import type { Mount } from "../engine.ts";
import { SandboxError } from "../errors.ts";

const run = promisify(execFile);

/** Where sandboxes see the Python installation (its prefix); the interpreter is below `bin`. */
export const pythonPrefix = "/opt/python";
const timeoutMs = 60_000;

/** A Python installation of the host and where a sandbox sees it. */
export type ResolvedPython = {
  /** For example 3.11.7 */
  readonly version: string;
  /** On the host, without links. */
  readonly executable: string;
  /** On the host; mounted read-only at `pythonPrefix`. */
  readonly prefix: string;
  /** In the sandbox. */
  readonly insideExecutable: string;
  /** Variables that the interpreter needs in the sandbox, where its shared library is at another path. */
  readonly env: Readonly<Record<string, string>>;
};

// Run with -I, so that environment and working directory have no effect.
const infoScript = `
import json, os, sys, sysconfig
print(json.dumps({
  "version": "%d.%d.%d" % sys.version_info[:3],
  "executable": os.path.realpath(sys.executable),
  "prefix": os.path.realpath(sys.base_prefix),
  "shared": bool(sysconfig.get_config_var("Py_ENABLE_SHARED")),
}))`;

const infoSchema = z.object({
  version: z.string(),
  executable: z.string(),
  prefix: z.string(),
  shared: z.boolean(),
});

const known = new Map<string, Promise<ResolvedPython | null>>();

/**
 * Finds a Python on this host with uv.
 * @param request.uv path of uv (TOWPATH_UV)
 * @param request.version a version or range for uv: `3.11`, `3.11.7`, `>=3.10,<3.13`; null: any
 * @returns null if there is none; a Python that was found is cached for the life of the process
 */
export function resolvePython(request: {
  readonly uv: string;
  readonly version: string | null;
}): Promise<ResolvedPython | null> {
  const key = `${request.uv}\0${request.version}`;
  const found = known.get(key) ?? findPython(request.uv, request.version);
  known.set(key, found);
  void found.then(
    (python) => python ?? known.delete(key),
    () => known.delete(key),
  );
  return found;
}

async function findPython(uv: string, version: string | null): Promise<ResolvedPython | null> {
  const env = interpreterEnvironment();
  const options = { env, timeout: timeoutMs, cwd: "/" };
  const wanted = version === null ? [] : ["--", version];
  const argv = ["python", "find", "--system", "--no-project", "--no-config", "--no-python-downloads", ...wanted];
  let executable: string;
  try {
    executable = (await run(uv, argv, options)).stdout.trim();
  } catch (error) {
    // uv exits with 2 if it found none; anything else is an error.
    if (typeof error === "object" && error !== null && "code" in error && error.code === 2) return null;
    throw error;
  }
  const { stdout } = await run(executable, ["-I", "-c", infoScript], options);
  const answer = infoSchema.parse(JSON.parse(stdout));
  const inside = `${pythonPrefix}/${relative(answer.prefix, answer.executable)}`;
  return {
    version: answer.version,
    executable: answer.executable,
    prefix: answer.prefix,
    insideExecutable: inside.includes("/../") ? `${pythonPrefix}/bin/${basename(answer.executable)}` : inside,
    env: answer.shared && answer.prefix !== "/usr" ? { LD_LIBRARY_PATH: `${pythonPrefix}/lib` } : {},
  };
}

/**
 * The exact version, or another patch release, which runs the same layers.
 * @throws SandboxError `python_unavailable`
 */
export async function pythonOf(version: string, uv: string): Promise<ResolvedPython> {
  const minor = version.split(".").slice(0, 2).join(".");
  const python = (await resolvePython({ uv, version })) ?? (await resolvePython({ uv, version: minor }));
  if (python !== null) return python;
  const message = `Python ${version}, for which it was built, is not installed on this machine. Redeploy it.`;
  throw new SandboxError("python_unavailable", message);
}

const listSchema = z.array(z.object({ version: z.string(), implementation: z.string().optional() }));

/**
 * Versions of the CPythons on this host that `resolvePython` can find, newest first, such as 3.11.7.
 * @throws Error when uv fails
 */
export async function installedPythons(uv: string): Promise<string[]> {
  const options = { env: interpreterEnvironment(), timeout: timeoutMs, cwd: "/" };
  const argv = [
    "python",
    "list",
    "--only-installed",
    "--no-config",
    "--no-python-downloads",
    "--output-format",
    "json",
  ];
  const list = listSchema.parse(JSON.parse((await run(uv, argv, options)).stdout));
  const versions = list.filter((each) => (each.implementation ?? "cpython") === "cpython").map((each) => each.version);
  return [...new Set(versions)].sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
}

/** The mount of this Python for a sandbox. */
export function pythonMount(python: ResolvedPython): Mount {
  return { host: python.prefix, inside: pythonPrefix, writable: false };
}
