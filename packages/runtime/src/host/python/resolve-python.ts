import { execFile } from "node:child_process";
import { basename, relative } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { pythonPrefix } from "../../port/builds.ts";
import { SandboxError } from "../../port/errors.ts";
import type { InstalledPython } from "../../port/host.ts";
import { interpreterEnvironment } from "../config.ts";
import type { HostDriverConfig, Mount } from "../engine.ts";
import { bringPython } from "./bring-python.ts";

const run = promisify(execFile);
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

/** Where to look for Pythons: uv finds those of the host, then downloaded ones. */
type Pythons = Pick<HostDriverConfig, "uv" | "downloads">;

const known = new Map<string, Promise<ResolvedPython | null>>();

/**
 * Finds a Python on this host with uv.
 * @param version a version or range for uv: `3.11`, `3.11.7`, `>=3.10,<3.13`; null: any
 * @returns null if there is none; a Python that was found is cached for the life of the process
 */
export function resolvePython(pythons: Pythons, version: string | null): Promise<ResolvedPython | null> {
  const key = `${pythons.uv}\0${pythons.downloads?.directory}\0${version}`;
  const found = known.get(key) ?? findPython(pythons, version);
  known.set(key, found);
  void found.then(
    (python) => python ?? known.delete(key),
    () => known.delete(key),
  );
  return found;
}

/** The host's own Pythons come first, so that a download for one project doesn't affect the others. */
function environmentOf({ downloads }: Pythons): Record<string, string> {
  const environment = { ...interpreterEnvironment(), UV_PYTHON_PREFERENCE: "system" };
  return downloads === undefined ? environment : { ...environment, UV_PYTHON_INSTALL_DIR: downloads.directory };
}

async function findPython(pythons: Pythons, version: string | null): Promise<ResolvedPython | null> {
  const env = environmentOf(pythons);
  const options = { env, timeout: timeoutMs, cwd: "/" };
  const request = version === null ? [] : ["--", version];
  const argv = ["python", "find", "--system", "--no-project", "--no-config", "--no-python-downloads", ...request];
  let executable: string;
  try {
    executable = (await run(pythons.uv, argv, options)).stdout.trim();
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
 * The exact version, or another patch release, which runs the same layers. Downloads it to a host that lacks it.
 *
 * @throws SandboxError `python_unavailable`
 */
export async function pythonOf(version: string, pythons: Pythons): Promise<ResolvedPython> {
  const minor = version.split(".").slice(0, 2).join(".");
  const find = async () => (await resolvePython(pythons, version)) ?? (await resolvePython(pythons, minor));
  const python = await find();
  if (python !== null) return python;
  const { downloads, uv } = pythons;
  const brought = downloads === undefined ? null : await bringPython(uv, downloads, minor);
  const installed = brought?.ok === true ? await find() : null;
  if (installed !== null) return installed;
  const message = `Python ${version}, for which it was built, is not installed on this machine. Rebuild it.`;
  throw new SandboxError("python_unavailable", message);
}

const listSchema = z.array(
  z.object({ version: z.string(), path: z.string().nullable(), implementation: z.string().optional() }),
);

/**
 * The CPythons on this host, newest first; of those with the same version, the host's own.
 * @throws Error when uv fails
 */
export async function installedPythons(pythons: Pythons): Promise<InstalledPython[]> {
  const options = { env: environmentOf(pythons), timeout: timeoutMs, cwd: "/" };
  const argv = [
    "python",
    "list",
    "--only-installed",
    "--no-config",
    "--no-python-downloads",
    "--output-format",
    "json",
  ];
  const list = listSchema.parse(JSON.parse((await run(pythons.uv, argv, options)).stdout));
  const found = new Map<string, InstalledPython>();
  for (const { version, path, implementation } of list) {
    if ((implementation ?? "cpython") !== "cpython") continue;
    // uv prints paths relative to the working directory, `/`.
    const isDownloaded = path !== null && `/${path.replace(/^\//, "")}`.startsWith(`${pythons.downloads?.directory}/`);
    if (!isDownloaded || !found.has(version)) found.set(version, { version, isDownloaded });
  }
  return [...found.values()].sort((a, b) => b.version.localeCompare(a.version, "en", { numeric: true }));
}

/** The mount of this Python for a sandbox. */
export function pythonMount(python: ResolvedPython): Mount {
  return { host: python.prefix, inside: pythonPrefix, writable: false };
}
