import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { relative } from "node:path";
import { z } from "zod";

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
export type TestResult = {
  readonly passed: number;
  readonly failedFiles: readonly string[];
  readonly failed: readonly string[];
};

/**
 * Runs tests of a copy of this checkout, with databases of their own. `args`: vitest's, such as parts of files' paths.
 * `report`: path of a file for vitest's report.
 */
export async function runTests(checkout: string, report: string, ...args: readonly string[]): Promise<TestResult> {
  const argv = ["node_modules/vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${report}`, ...args];
  const { TOWPATH_TEST_DATABASE_URL: _, ...env } = process.env;
  await rm(report, { force: true });
  const child = spawn(process.execPath, argv, { cwd: checkout, env, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4000);
  });
  await once(child, "close");
  const written = await readFile(report, "utf8").catch((cause: unknown) => {
    throw new Error(`vitest wrote no report:\n${output}`, { cause });
  });
  const { numPassedTests: passed, testResults } = reportSchema.parse(JSON.parse(written));
  const failedFiles = testResults.filter(({ status }) => status === "failed");
  return {
    passed,
    failedFiles: failedFiles.map(({ name }) => relative(checkout, name)),
    failed: failedFiles.flatMap(({ name, assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === "failed");
      const file = relative(checkout, name);
      return tests.length === 0 ? [file] : tests.map(({ fullName }) => `${file} > ${fullName}`);
    }),
  };
}
