import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { repositoryRoot as root } from "../repository-root.ts";
import { CommandError } from "../terminal/terminal.ts";
import { emptyReport, type Failure, type Output, type Report, reportSchema, type Totals, totalsOf } from "./totals.ts";

// The programs that check and test, each run from the repository's root.

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

/** A check without parts counts as one test. */
export async function check(output: Output, program: string, ...args: string[]): Promise<Totals> {
  const status = await exec(output, process.execPath, [program, ...args]);
  return status === 0 ? totalsOf(1) : totalsOf(0, endedWith(status, args));
}

export const tsc = (output: Output, project: string): Promise<Totals> =>
  check(output, programOf("typescript", "bin/tsc"), "--noEmit", "-p", project);

/** Checks the repository's Python by the rules of the harness. Counts as one test. */
export async function ruff(output: Output): Promise<Totals> {
  const rules = ["--config", "python/towpath_runner/pyproject.toml"];
  const args = [
    "run",
    "--no-project",
    "--with",
    "ruff==0.17.5",
    "ruff",
    "check",
    "--quiet",
    "--no-cache",
    ...rules,
    ".",
  ];
  const status = await exec(output, "uv", args);
  return status === 0 ? totalsOf(1) : totalsOf(0, endedWith(status, args));
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
    notShown: all.flatMap(({ notShown }) => notShown),
    failedFiles: all.flatMap(({ failedFiles }) => failedFiles),
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

/**
 * Python clients write bytecode even where the machine forbids it: otherwise each start compiles FastMCP for seconds.
 */
const pythonEnvironment = { PYTHONDONTWRITEBYTECODE: "" };

/** Totals of a run of test files that ended with `status`. */
function totalsOfFiles(
  { passed, failures, notShown, failedFiles }: Report,
  status: number,
  name: readonly string[],
  runAlone: (path: string, output: Output) => Promise<Totals>,
): Totals {
  // A set-up or tear-down of all files that fails, or a crash.
  const isUnexplained = status !== 0 && failures.length === 0 && failedFiles.length === 0;
  return {
    passed,
    failures: isUnexplained ? [endedWith(status, name)] : failures,
    notShown,
    failedFiles: failedFiles.map((file) => ({ ...file, runAlone: (output) => runAlone(file.path, output) })),
  };
}

/** Without `only`, a part of their paths, all files that the config includes. `inside`: a program that runs its arguments. */
export function vitest(
  output: Output,
  config: string,
  only: readonly string[] = [],
  env: Record<string, string> = {},
  inside?: string,
): Promise<Totals> {
  return withReport(async (path) => {
    const reporter = fileURLToPath(import.meta.resolve("./failures-reporter.ts"));
    const args = ["run", "--config", config, "--reporter=default", `--reporter=${reporter}`, `--outputFile=${path}`];
    const argv = [programOf("vitest", "vitest.mjs"), ...args, ...only];
    const environment = { ...pythonEnvironment, ...env };
    const status = await (inside === undefined
      ? exec(output, process.execPath, argv, environment)
      : exec(output, inside, [process.execPath, ...argv], environment));
    const written = await readFile(path, "utf8").catch(() => null);
    const report = written === null ? emptyReport() : reportSchema.parse(JSON.parse(written));
    return totalsOfFiles(report, status, [`vitest ${config}`], (file, again) =>
      vitest(again, config, [file], env, inside),
    );
  });
}

/** Files of tests of packages, apps and the stand-in for GitHub that import a file of this name. */
export async function testsThatImport(name: string): Promise<string[]> {
  const found: string[] = [];
  const files = "{apps,packages,docs,tests/github}/**/*.test.ts";
  for await (const file of glob(files, { cwd: root, exclude: ["**/node_modules"] })) {
    if ((await readFile(join(root, file), "utf8")).includes(`/${name}"`)) found.push(file);
  }
  return found.toSorted();
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#10": "\n" };
const unescapeXml = (text: string) => text.replaceAll(/&([^;]+);/g, (whole, name: string) => entities[name] ?? whole);

/** Parses pytest's report in JUnit's first format, with files relative to `directory`. */
function readJunit(xml: string, directory: string): Report {
  const report = emptyReport();
  const files = new Map<string, { passed: number; failures: Failure[] }>();
  for (const [, attributes = "", body = ""] of xml.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)) {
    const read = (name: string, of = attributes) => unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(of)?.[1] ?? "");
    const path = resolve(directory, read("file"));
    const file = files.get(path) ?? { passed: 0, failures: [] };
    files.set(path, file);
    const failure = /<(?:failure|error) ([^>]*)>/.exec(body)?.[1];
    const title = [read("classname"), read("name")].filter(Boolean).join(" > ");
    if (failure !== undefined) file.failures.push({ name: title, message: read("message", failure) });
    else if (!body.includes("<skipped ")) file.passed += 1;
    else if (/^test_[A-Z]+_\d+_/.test(read("name"))) report.notShown.push(title);
  }
  for (const [path, { passed, failures }] of files) {
    if (failures.length === 0) report.passed += passed;
    else report.failedFiles.push({ path, passed, failures });
  }
  return report;
}

/** `only`: one file of the directory. */
export function pytest(
  output: Output,
  directory: string,
  env: Record<string, string> = {},
  only = directory,
): Promise<Totals> {
  return withReport(async (path) => {
    const args = [
      "run",
      "--no-project",
      "--with",
      "pytest==9.0.2",
      "pytest",
      "-q",
      only,
      `--rootdir=${directory}`,
      "--override-ini=junit_family=xunit1",
      `--junitxml=${path}`,
    ];
    const status = await exec(output, "uv", args, env);
    const report = readJunit(await readFile(path, "utf8").catch(() => ""), resolve(root, directory));
    return totalsOfFiles(report, status, ["pytest", directory], (file, again) => pytest(again, directory, env, file));
  });
}
