import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { addMigration, linkPackages } from "../instance/checkout-copy.ts";
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

const reportSchema = z.object({
  numPassedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** `failed`: tests, and files that don't load. */
type Result = { readonly passed: number; readonly failedFiles: readonly string[]; readonly failed: readonly string[] };

/** Runs tests of the earlier code. */
async function runTests(...args: readonly string[]): Promise<Result> {
  const output = join(directory, "report.json");
  const argv = ["node_modules/vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${output}`, ...args];
  // A database of its own, with its migrations.
  const { TOWPATH_TEST_DATABASE_URL: _, ...env } = process.env;
  await rm(output, { force: true });
  const child = spawn(process.execPath, argv, { cwd: earlier, env, stdio: "ignore" });
  await once(child, "close");
  const { numPassedTests: passed, testResults } = reportSchema.parse(JSON.parse(await readFile(output, "utf8")));
  const failedFiles = testResults.filter(({ status }) => status === "failed");
  return {
    passed,
    failedFiles: failedFiles.map(({ name }) => relative(earlier, name)),
    failed: failedFiles.flatMap(({ name, assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === "failed");
      const file = relative(earlier, name);
      return tests.length === 0 ? [file] : tests.map(({ fullName }) => `${file} > ${fullName}`);
    }),
  };
}

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
  const { failed } = await runTests(...files, "--maxWorkers=1");
  if (failed.length === 0) return [];
  await useOwnMigrations();
  const before = await runTests(...files, "--maxWorkers=1");
  await useNewestMigrations();
  return failed.filter((each) => !before.failed.includes(each));
}

test("OPS-3 OPS-10 gateway and web of before the newest migration pass their tests on the schema of after", async () => {
  const { passed, failedFiles } = await runTests(...suites);
  expect(passed).toBeGreaterThan(1000);
  expect(failedFiles.length === 0 ? [] : await brokenIn(failedFiles)).toEqual([]);
}, 3_600_000);

test("OPS-3 OPS-10 a migration that takes a column from the earlier code fails these tests", async () => {
  await addMigration(earlier, "contracts_too_early", "ALTER TABLE project RENAME COLUMN auth_mode TO mode;");
  const broken = await brokenIn(["apps/gateway/src/gateway.refusals.test.ts"]);
  expect(broken.length).toBeGreaterThan(0);
}, 300_000);
