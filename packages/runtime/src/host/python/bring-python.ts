import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import { z } from "zod";
import type { BroughtPython } from "../../port/host.ts";
import { interpreterEnvironment } from "../config.ts";

const run = promisify(execFile);
const listMs = 30_000;
const installMs = 5 * 60_000;
/** How long a failed download isn't retried: each attempt takes ten seconds. */
const failedForMs = 5 * 60_000;

/** Source and directory of Pythons that this host lacks. */
export type PythonDownloads = {
  /** They are installed below it, one directory for each version. */
  readonly directory: string;
  /** URL in place of `https://github.com/astral-sh/python-build-standalone/releases/download`; null: from there. */
  readonly mirror: string | null;
  /** URL of a list of other builds, with their digests, in uv's format; null: the list that uv contains. */
  readonly list: string | null;
};

const listSchema = z.array(
  z.object({
    key: z.string(),
    version: z.string(),
    version_parts: z.object({ minor: z.number() }),
    url: z.string().nullable(),
    variant: z.string(),
    implementation: z.string(),
  }),
);
type Build = z.infer<typeof listSchema>[number];

/** The first of these minor versions that a range allows is preferred; most packages have wheels for it. */
const preferredMinors = [13, 12, 11, 14, 10];

const bringing = new Map<string, { readonly result: Promise<BroughtPython>; failedAt: number | null }>();

/**
 * Downloads and installs a CPython for a request such as `3.12`, `3.12.1` or `>=3.12`. uv compares its digest with the
 * list's and locks the directory, so that concurrent processes install it once.
 */
export function bringPython(uv: string, downloads: PythonDownloads, request: string): Promise<BroughtPython> {
  const key = [uv, downloads.directory, request].join("\0");
  const known = bringing.get(key);
  if (known !== undefined && (known.failedAt === null || performance.now() - known.failedAt < failedForMs))
    return known.result;
  const result = install(uv, downloads, request);
  const entry: { readonly result: Promise<BroughtPython>; failedAt: number | null } = { result, failedAt: null };
  bringing.set(key, entry);
  void result.then(({ ok }) => {
    // It exists now; it can be requested again after it was removed.
    if (ok) bringing.delete(key);
    else entry.failedAt = performance.now();
  });
  return result;
}

async function install(uv: string, downloads: PythonDownloads, request: string): Promise<BroughtPython> {
  const env = { ...interpreterEnvironment(), NO_COLOR: "1" };
  const list = downloads.list === null ? [] : ["--python-downloads-json-url", downloads.list];
  try {
    const argv = ["python", "list", "--only-downloads", "--no-config", "--output-format", "json", ...list];
    const { stdout } = await run(uv, [...argv, "--", request], { env, timeout: listMs, cwd: "/" });
    const build = choose(listSchema.parse(JSON.parse(stdout)));
    if (build === null) return { ok: false, reason: `uv knows no build of Python ${request} for this machine.` };
    await mkdir(downloads.directory, { recursive: true, mode: 0o755 });
    const options = ["--no-config", "--no-bin", "--no-progress", "--install-dir", downloads.directory];
    const mirror = downloads.mirror === null ? [] : ["--mirror", downloads.mirror];
    await run(uv, ["python", "install", ...options, ...mirror, ...list, "--", build.key], {
      env,
      timeout: installMs,
      cwd: "/",
    });
    // uv flushes nothing, and takes what it finds for whole.
    await run("sync", ["--file-system", downloads.directory]);
    return { ok: true, version: build.version, from: sourceOf(downloads.mirror ?? build.url ?? "") };
  } catch (error) {
    const from = downloads.mirror ?? downloads.list ?? "github.com/astral-sh/python-build-standalone";
    return { ok: false, reason: `Python ${request} could not be downloaded from ${withoutLogin(from)}: ${why(error)}` };
  }
}

function choose(builds: readonly Build[]): Build | null {
  const usable = builds.filter(
    ({ implementation, variant, version }) =>
      implementation === "cpython" && variant === "default" && /^3\.\d+\.\d+$/.test(version),
  );
  const rank = ({ version_parts: { minor } }: Build) => (preferredMinors.indexOf(minor) + 100) % 100;
  const newest = (a: Build, b: Build) => b.version.localeCompare(a.version, "en", { numeric: true });
  return usable.sort((a, b) => rank(a) - rank(b) || newest(a, b))[0] ?? null;
}

/** The last of uv's causes, which is the most precise, in one line. */
function why(error: unknown): string {
  const stderr =
    typeof error === "object" && error !== null && "stderr" in error && typeof error.stderr === "string"
      ? error.stderr
      : "";
  if (/hash mismatch/i.test(stderr)) return "its digest is not the expected one, so it was refused.";
  const causes = stderr.split("\n").flatMap((line) => /^\s*(?:cause|error): (.+)/.exec(line)?.[1] ?? []);
  const last = causes.at(-1) ?? (error instanceof Error ? error.message.split("\n")[0] : String(error));
  return `${(last ?? "").slice(0, 300).replace(/\.$/, "")}.`;
}

const sourceOf = (url: string) => (URL.canParse(url) ? new URL(url).host || new URL(url).pathname : url);

function withoutLogin(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}
