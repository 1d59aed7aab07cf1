import { execFile } from "node:child_process";
import { lstat, mkdtemp, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { leadsOut, leftOutDirectories, leftOutName } from "@towpath/core/sources/repository/left-out/schema";

const run = promisify(execFile);

/** Paths are relative to the directory, with forward slashes. */
export type DirectoryFiles = {
  /** Files and symbolic links, sorted. */
  readonly paths: readonly string[];
  /** Files and directories left out, for people: `dist/`, `.env`, `data → /mnt/data`. */
  readonly leftOut: readonly string[];
};

/**
 * The files of a directory that git would add: tracked ones, and others unless `.gitignore` (also of parent directories
 * in its repository), `.git/info/exclude` or the person's own settings ignore them. Nested repositories, such as
 * submodules, count with their files and by their own rules. Leaves out files that no build needs, files that look like
 * secrets (`left-out.schema.ts`), and links that lead out of the directory.
 *
 * @throws git's error
 */
export async function directoryFiles(directory: string): Promise<DirectoryFiles> {
  const leftOut = new Set<string>();
  const paths: string[] = [];
  for (const path of new Set(await listed(directory, "", leftOut))) {
    const why = leftOutName(path) ?? (await whyNot(directory, path));
    if (why === null) paths.push(path);
    else if (why !== gone) leftOut.add(why);
  }
  return { paths: paths.toSorted(), leftOut: [...leftOut] };
}

const gone = Symbol("git knows it, but it was deleted, or is neither file nor link");

async function whyNot(directory: string, path: string): Promise<string | typeof gone | null> {
  const found = await lstat(join(directory, path)).catch(() => null);
  if (found?.isFile()) return null;
  if (!found?.isSymbolicLink()) return gone;
  const target = await readlink(join(directory, path));
  return leadsOut(path, target) ? `${path} → ${target}` : null;
}

/** Files in `prefix` (from the top) and in nested repositories. Adds ignored files to `leftOut`. */
async function listed(directory: string, prefix: string, leftOut: Set<string>): Promise<string[]> {
  const git = await gitIn(join(directory, prefix));
  try {
    const rules = ["-z", "--exclude-standard", ...leftOutDirectories.map((name) => `--exclude=${name}/`)];
    const [known, others, ignored] = await Promise.all([
      git.isRepository ? git.list("--cached", "-z") : [],
      git.list("--others", ...rules),
      git.list("--others", "--ignored", "--directory", ...rules),
    ]);
    for (const path of ignored) leftOut.add(leftOutName(path.replace(/\/$/, "/x")) ?? prefix + path);
    const found: string[] = [];
    for (const path of [...known, ...others]) {
      // git lists nested repositories as paths only: untracked ones with a slash, submodules without.
      const inner = path.replace(/\/$/, "");
      const isDirectory = inner !== path || (await isRealDirectory(join(directory, prefix, inner)));
      if (!isDirectory) found.push(prefix + path);
      else if (leftOutName(`${inner}/x`) === null)
        found.push(...(await listed(directory, `${prefix}${inner}/`, leftOut)));
    }
    return found;
  } finally {
    await git.close();
  }
}

const isRealDirectory = async (path: string) => (await lstat(path).catch(() => null))?.isDirectory() ?? false;

/** The directory may be a stranger's: its settings must run no program and fetch nothing. */
const asStranger = ["-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"];

/** Lists files by the directory's repository, or without one if there is none or it ignores the directory. */
async function gitIn(directory: string) {
  const options = {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, GIT_ALLOW_PROTOCOL: "none" },
    maxBuffer: 256 * 1024 * 1024,
  };
  const succeeds = (...args: string[]) =>
    run("git", [...asStranger, ...args], options).then(
      ({ stdout }) => stdout.trim() !== "false",
      () => false,
    );
  const isRepository =
    (await succeeds("rev-parse", "--is-inside-work-tree")) && !(await succeeds("check-ignore", "--quiet", "."));
  const own = isRepository ? null : await mkdtemp(join(tmpdir(), "towpath-list-"));
  const place = own === null ? [] : [`--git-dir=${own}`, `--work-tree=${directory}`];
  if (own !== null) await run("git", ["init", "--quiet", "--bare", "--template=", own], options);
  return {
    isRepository,
    async list(...args: string[]): Promise<string[]> {
      const { stdout } = await run("git", [...asStranger, ...place, "ls-files", ...args], options);
      return stdout.split("\0").filter((path) => path !== "");
    },
    close: async () => {
      if (own !== null) await rm(own, { recursive: true, force: true });
    },
  };
}
