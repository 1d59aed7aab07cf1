import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMigration, linkPackages } from "../instance/checkout-copy.ts";
import { runTests } from "../instance/run-tests.ts";
import { repositoryRoot } from "../instance/towpath-process.ts";

// An upgrade migrates the database, then replaces one process after another: until then, the code of before works on the
// newer schema. That code is the last commit with an earlier schema; it gets this checkout's migrations in place of its own,
// and runs its own tests of gateway and web, those in a browser left out.

const run = promisify(execFile);
const migrations = "packages/db/migrations";
const journal = `${migrations}/meta/_journal.json`;
const suites = ["apps/gateway", "apps/web", "--exclude=**/*.browser.test.*"];

let directory: string;
let earlier: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-earlier-"));
  earlier = join(directory, "checkout");
  await checkOut(await lastCommitWithEarlierSchema());
  await useNewestMigrations();
}, 600_000);
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

const git = async (...args: readonly string[]) => (await run("git", ["-C", repositoryRoot, ...args])).stdout;

async function lastCommitWithEarlierSchema(): Promise<string> {
  const own = await readFile(join(repositoryRoot, journal), "utf8");
  const [newest = ""] = (await git("log", "--first-parent", "--format=%H", "--", journal)).split("\n");
  if ((await git("show", `HEAD:${journal}`)) !== own) return (await git("rev-parse", "HEAD")).trim();
  return (
    await git("rev-parse", "--verify", `${newest}^`).catch((cause: Error) => {
      throw new Error("This takes a clone with the whole history: git fetch --unshallow", { cause });
    })
  ).trim();
}

async function checkOut(commit: string): Promise<void> {
  await run("git", ["clone", "--quiet", "--shared", "--no-checkout", repositoryRoot, earlier]);
  await run("git", ["-C", earlier, "checkout", "--quiet", "--detach", commit]);
  await symlink(join(repositoryRoot, ".toolchain"), join(earlier, ".toolchain"));
  if ((await packagesOf(repositoryRoot)) === (await packagesOf(earlier))) return await linkPackages(earlier);
  await run("npm", ["install", "--no-save", "--no-audit", "--no-fund"], { cwd: earlier });
}

/** What npm installs into a checkout, from others. */
async function packagesOf(checkout: string): Promise<string> {
  const lock = JSON.parse(await readFile(join(checkout, "package-lock.json"), "utf8"));
  return JSON.stringify(Object.entries(lock.packages).filter(([path]) => path.includes("node_modules/")));
}

const runEarlier = (...args: readonly string[]) => runTests(earlier, join(directory, "report.json"), ...args);

async function useNewestMigrations(): Promise<void> {
  await rm(join(earlier, migrations), { recursive: true });
  await cp(join(repositoryRoot, migrations), join(earlier, migrations), { recursive: true });
}

async function useOwnMigrations(): Promise<void> {
  await rm(join(earlier, migrations), { recursive: true });
  await run("git", ["-C", earlier, "checkout", "--quiet", "--", migrations]);
}

/** What fails on the newest schema and not on the earlier code's own. One file after another, as on a machine of its own. */
async function brokenIn(files: readonly string[]): Promise<readonly string[]> {
  const { failed } = await runEarlier(...files, "--maxWorkers=1");
  if (failed.length === 0) return [];
  await useOwnMigrations();
  const before = await runEarlier(...files, "--maxWorkers=1");
  await useNewestMigrations();
  return failed.filter((each) => !before.failed.includes(each));
}

test("OPS-3 OPS-10 gateway and web of before the newest migration pass their tests on the schema of after", async () => {
  const { passed, failedFiles } = await runEarlier(...suites);
  expect(passed).toBeGreaterThan(1000);
  expect(failedFiles.length === 0 ? [] : await brokenIn(failedFiles)).toEqual([]);
}, 3_600_000);

test("OPS-3 OPS-10 a migration that takes a column from the earlier code fails these tests", async () => {
  await addMigration(earlier, "contracts_too_early", "ALTER TABLE project RENAME COLUMN auth_mode TO mode;");
  const broken = await brokenIn(["apps/gateway/src/gateway.refusals.test.ts"]);
  expect(broken.length).toBeGreaterThan(0);
}, 300_000);
