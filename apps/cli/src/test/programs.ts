import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "../terminal/terminal.ts";
import { type Failure, type Totals, totalsSchema } from "./totals.ts";

// The programs that check and test, each run from the repository's root.

/** Where a program prints: the terminal, or the descriptor of a file. */
export type Output = "inherit" | number;

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Path of a package's program, wherever npm put the package; its `exports` may hide even its package.json. */
export function programOf(packageName: string, bin: string): string {
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

/** A check that has no parts of its own counts as one test. */
export async function check(output: Output, program: string, ...args: string[]): Promise<Totals> {
  const status = await exec(output, process.execPath, [program, ...args]);
  return status === 0 ? { passed: 1, failures: [] } : { passed: 0, failures: [endedWith(status, args)] };
}

const endedWith = (status: number, args: readonly string[]): Failure => ({
  name: args.join(" "),
  message: `Ended with status ${status}. What it printed is above.`,
});

export async function together(...parts: (Totals | Promise<Totals>)[]): Promise<Totals> {
  const all = await Promise.all(parts);
  return {
    passed: all.reduce((sum, { passed }) => sum + passed, 0),
    failures: all.flatMap(({ failures }) => failures),
  };
}

/** Runs `use` with the path of a file for a program's report. */
async function withReport(use: (path: string) => Promise<Totals>): Promise<Totals> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-report-"));
  try {
    return await use(join(directory, "report"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Clients in Python keep their bytecode, whatever the machine says: without it each start compiles FastMCP for seconds. */
const pythonEnvironment = { PYTHONDONTWRITEBYTECODE: "" };

/** Without `only`, a part of their paths, all files that the config includes. */
export function vitest(
  output: Output,
  config: string,
  only: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Totals> {
  return withReport(async (report) => {
    const reporter = fileURLToPath(import.meta.resolve("./failures-reporter.ts"));
    const args = ["run", "--config", config, "--reporter=default", `--reporter=${reporter}`, `--outputFile=${report}`];
    const status = await exec(output, process.execPath, [programOf("vitest", "vitest.mjs"), ...args, ...only], {
      ...pythonEnvironment,
      ...env,
    });
    const written = await readFile(report, "utf8").catch(() => null);
    const totals: Totals = written === null ? { passed: 0, failures: [] } : totalsSchema.parse(JSON.parse(written));
    // A set-up or tear-down of all files that fails, or a crash.
    if (status !== 0 && totals.failures.length === 0) totals.failures.push(endedWith(status, [`vitest ${config}`]));
    return totals;
  });
}

/** Files of tests of packages and apps that import this file of the repository. */
export async function testsThatImport(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob("{apps,packages,docs}/**/*.test.ts", { cwd: root, exclude: ["**/node_modules"] })) {
    if ((await readFile(join(root, file), "utf8")).includes(`/${path}"`)) found.push(file);
  }
  return found.toSorted();
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#10": "\n" };
const unescapeXml = (text: string) => text.replaceAll(/&([^;]+);/g, (whole, name: string) => entities[name] ?? whole);

/** Totals of a report in JUnit's format as pytest writes it. */
function readJunit(report: string): Totals {
  const suite = /<testsuite [^>]*>/.exec(report)?.[0] ?? "";
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failed = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*>\s*<(?:failure|error) message="([^"]*)"/g;
  const failures = [...report.matchAll(failed)].map(([, file = "", name = "", message = ""]) => ({
    name: unescapeXml(`${file} > ${name}`),
    message: unescapeXml(message),
  }));
  return { passed: count("tests") - count("failures") - count("errors") - count("skipped"), failures };
}

export function pytest(output: Output, directory: string, env: Record<string, string> = {}): Promise<Totals> {
  return withReport(async (report) => {
    const args = [
      "run",
      "--no-project",
      "--with",
      "pytest==9.0.2",
      "pytest",
      "-q",
      directory,
      `--rootdir=${directory}`,
      `--junitxml=${report}`,
    ];
    const status = await exec(output, "uv", args, env);
    const totals = readJunit(await readFile(report, "utf8").catch(() => ""));
    if (status !== 0 && totals.failures.length === 0) totals.failures.push(endedWith(status, ["pytest", directory]));
    return totals;
  });
}
