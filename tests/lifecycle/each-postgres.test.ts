import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { copyCheckout } from "../instance/checkout-copy.ts";
import { type EarlierMajor, installPostgres, linkPostgres, usePostgres } from "../instance/postgres-programs.ts";
import { runTests } from "../instance/run-tests.ts";
import { repositoryRoot } from "../instance/towpath-process.ts";

// The tests of packages, processes and of a whole instance pass on each PostgreSQL that DATABASE_URL may name. The newest is
// the embedded one, which they run on otherwise.

const run = promisify(execFile);
let directory: string;
beforeAll(async () => {
  // Short enough for the sockets below it.
  directory = await mkdtemp(join(tmpdir(), "tp-each-"));
  // Some tests run its checkout as an ordinary user.
  await chmod(directory, 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

/** Those that are about the embedded PostgreSQL's version, or the state of a repository. */
const left = ["--exclude=**/move-cluster.test.ts", "--exclude=docs/**", "--exclude=**/*.browser.test.*"];

async function expectToPass(checkout: string, ...args: readonly string[]): Promise<number> {
  const report = join(directory, "report.json");
  const { passed, failedFiles } = await runTests(checkout, report, ...args);
  // Once more and alone, as in every run of the tests.
  const { failed } =
    failedFiles.length > 0 ? await runTests(checkout, report, ...failedFiles, ...args) : { failed: [] };
  expect(failed).toEqual([]);
  return passed;
}

const majors: readonly EarlierMajor[] = [15, 16, 17];
/** TOWPATH_TEST_POSTGRES: one of them, or `pooler`; the run takes an hour or more for each. */
const chosen = process.env.TOWPATH_TEST_POSTGRES;
const isChosen = (name: string) => chosen === undefined || chosen === name;
test.each(majors.filter((major) => isChosen(String(major))))(
  "OPS-2 packages, processes and an instance pass their tests on PostgreSQL %i",
  async (major) => {
    const [checkout, programs] = [join(directory, String(major)), join(directory, `npm-${major}`)];
    await copyCheckout(checkout);
    // Some tests ask for its commit.
    const { stdout } = await run("git", ["rev-parse", "--absolute-git-dir"], { cwd: repositoryRoot });
    await writeFile(join(checkout, ".git"), `gitdir: ${stdout}`);
    await installPostgres(major, programs);
    await linkPostgres(checkout, major, programs);
    await usePostgres(checkout, major);
    expect(await expectToPass(checkout, ...left)).toBeGreaterThan(2000);
    expect(await expectToPass(checkout, "--config", "tests/vitest.config.ts")).toBeGreaterThan(60);
  },
  3_600_000,
);

test.runIf(isChosen("pooler"))(
  "OPS-2 an instance behind PgBouncer in transaction mode passes its tests",
  async () => {
    vi.stubEnv("TOWPATH_TEST_POOLER", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await expectToPass(repositoryRoot, "--config", "tests/vitest.config.ts")).toBeGreaterThan(60);
  },
  3_600_000,
);
