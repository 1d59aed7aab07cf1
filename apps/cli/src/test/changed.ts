import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { UsageError } from "../terminal/terminal.ts";

const run = promisify(execFile);

/**
 * Paths from the repository's root. Browser tests and tests of whole instances are included only if they changed
 * themselves.
 */
export type TestsOfChange = {
  /** Changed files that still exist. */
  readonly files: readonly string[];
  /** Test files of packages and apps: the changed ones, and those in the folder of a changed file. */
  readonly packages: readonly string[];
  /** Changed tests of whole instances. */
  readonly instances: readonly string[];
  /** Whether the Python harness changed. */
  readonly harness: boolean;
};

/**
 * The tests nearest to the changes since `base`, committed or not. Default of `base`: the merge base with the upstream,
 * or the last commit.
 * @throws UsageError when git doesn't know `base`, or nothing differs
 */
export async function testsOfChange(root: string, base?: string): Promise<TestsOfChange> {
  const git = async (...args: string[]) => {
    const { stdout } = await run("git", ["-C", root, ...args], { maxBuffer: 1 << 26 });
    return stdout.split("\0").filter(Boolean);
  };
  const from = base ?? (await git("merge-base", "HEAD", "@{upstream}").catch(() => ["HEAD"]))[0]?.trim() ?? "HEAD";
  const changed = await git("diff", "--name-only", "--diff-filter=d", "-z", "--relative", from, "--").catch(() => {
    throw new UsageError(`git knows no commit ${from}.`);
  });
  const files = [...changed, ...(await git("ls-files", "--others", "--exclude-standard", "-z"))].toSorted();
  if (files.length === 0)
    throw new UsageError(`Nothing differs from ${from}. Name a commit: ./towpath test changed main`);
  const isTest = (path: string) => /\.test\.tsx?$/.test(path);
  const packages = new Set(files.filter((path) => isTest(path) && !path.startsWith("tests/")));
  const folders = new Set(files.filter((path) => /^(?:apps|packages|docs)\//.test(path)).map(dirname));
  for (const folder of folders) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of await readdir(join(root, folder)))
      if (isTest(name) && !name.includes(".browser.")) packages.add(`${folder}/${name}`);
  }
  return {
    files,
    packages: [...packages].toSorted(),
    instances: files.filter((path) => isTest(path) && path.startsWith("tests/e2e/")),
    harness: files.some((path) => path.startsWith("python/towpath_runner/")),
  };
}
