import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { CommandError } from "../terminal/terminal.ts";

export type Totals = { readonly passed: number; readonly failed: number };

/** Where a stage prints: the terminal, or the descriptor of a file. */
export type Output = "inherit" | number;

export type Stage = {
  readonly name: string;
  readonly title: string;
  readonly run: (output: Output) => Promise<Totals>;
  /** Runs at the same time as the stage after it, which mostly waits. */
  readonly besideNext?: boolean;
  /** Runs only when it is named: it takes longer than people wait for tests. */
  readonly onlyWhenNamed?: boolean;
};

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Path of a package's program, wherever npm put the package; its `exports` may hide even its package.json. */
function programOf(packageName: string, bin: string): string {
  const directories = createRequire(join(root, "package.json")).resolve.paths(packageName) ?? [];
  const found = directories.map((directory) => join(directory, packageName, bin)).find((path) => existsSync(path));
  if (!found)
    throw new CommandError(`${packageName} is not installed. Start through ./towpath test, which installs it.`);
  return found;
}

function exec(
  output: Output,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", output, output],
      env: { ...process.env, ...env },
    });
    child.on("error", () => resolve(127));
    child.on("close", (code) => resolve(code ?? 1));
  });
}

const node = (output: Output, program: string, ...args: string[]) => exec(output, process.execPath, [program, ...args]);

/** A check that has no parts of its own counts as one test. */
const asOne = async (status: Promise<number>): Promise<Totals> =>
  (await status) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };

async function asAll(...statuses: Promise<number>[]): Promise<Totals> {
  const failed = (await Promise.all(statuses)).filter((status) => status !== 0).length;
  return { passed: statuses.length - failed, failed };
}

const vitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numFailedTestSuites: z.number(),
});

/** Without `only`, a part of their paths, all files that the config includes. */
async function vitest(
  output: Output,
  config: string,
  only: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Totals> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-report-"));
  const report = join(directory, "report.json");
  try {
    const program = programOf("vitest", "vitest.mjs");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const args = [program, "run", "--config", config, ...reporters, ...only];
    const status = await exec(output, process.execPath, args, env);
    const totals = vitestReport.parse(JSON.parse(await readFile(report, "utf8")));
    // A file that does not even load, an unhandled error or a leaked handle fails the run without failing a test.
    const unseen = status !== 0 && totals.numFailedTests === 0 ? Math.max(1, totals.numFailedTestSuites) : 0;
    return { passed: totals.numPassedTests, failed: totals.numFailedTests + unseen };
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function pytest(output: Output, directory: string): Promise<Totals> {
  const reports = await mkdtemp(join(tmpdir(), "towpath-report-"));
  const report = join(reports, "report.xml");
  try {
    await exec(output, "uv", [
      "run",
      "--no-project",
      "--with",
      "pytest==9.0.2",
      "pytest",
      "-q",
      directory,
      `--junitxml=${report}`,
    ]);
    const suite = /<testsuite [^>]*>/.exec(await readFile(report, "utf8"))?.[0] ?? "";
    const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
    const failed = count("failures") + count("errors");
    const passed = count("tests") - failed - count("skipped");
    return { passed, failed: failed + (passed + failed === 0 ? 1 : 0) };
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}

const tsc = (output: Output, project: string) =>
  node(output, programOf("typescript", "bin/tsc"), "--noEmit", "-p", project);

/** In the order in which a mistake is cheapest to learn of. */
export const stages: readonly Stage[] = [
  {
    name: "types",
    title: "Types",
    run: (output) => asAll(tsc(output, "tsconfig.json"), tsc(output, "apps/web/tsconfig.json")),
  },
  {
    name: "lint",
    title: "Lint and format",
    run: (output) => asOne(node(output, programOf("@biomejs/biome", "bin/biome"), "ci", "--error-on-warnings", ".")),
  },
  {
    name: "imports",
    title: "Import rules",
    run: (output) =>
      asOne(
        node(
          output,
          programOf("dependency-cruiser", "bin/dependency-cruiser.mjs"),
          "--config",
          ".dependency-cruiser.cjs",
          "packages",
          "apps",
          "tests",
        ),
      ),
  },
  {
    name: "unused",
    title: "Nothing unused",
    run: (output) => asOne(node(output, programOf("knip", "bin/knip.js"), "--treat-config-hints-as-errors")),
  },
  {
    name: "requirements",
    title: "Promises with a test",
    run: (output) => asOne(node(output, "docs/list-unproven-requirements.ts", "--check")),
  },
  { name: "unit", title: "Packages and processes", run: (output) => vitest(output, "vitest.config.ts") },
  {
    name: "harness",
    title: "Python harness",
    run: (output) => pytest(output, "python/towpath_runner/tests"),
    besideNext: true,
  },
  { name: "e2e", title: "End to end", run: (output) => vitest(output, "tests/vitest.config.ts") },
  {
    name: "interleavings",
    title: "Interleavings of deliveries",
    run: (output) => vitest(output, "vitest.config.ts", ["webhook/interleavings"], { TEST_INTERLEAVINGS: "1000" }),
    onlyWhenNamed: true,
  },
  { name: "chaos", title: "Chaos", run: (output) => asOne(node(output, "tests/chaos/run.ts")), onlyWhenNamed: true },
];
