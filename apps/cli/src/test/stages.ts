import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { UsageError } from "../terminal/terminal.ts";
import { ensureWebBuild } from "../up/web-build.ts";
import { testsOfChange } from "./changed.ts";
import { check, programOf, pytest, testsThatImport, together, vitest } from "./programs.ts";
import { type Output, skippedFor, type Totals, totalsOf } from "./totals.ts";

/**
 * Together they fill a machine of two processors, and end at about the same time. Not more of them: what competes for a
 * processor takes no less time, and waits longer for what it starts.
 */
type Lane = "packages" | "pages and harness" | "instances";

export type Stage = {
  readonly name: string;
  readonly title: string;
  /** `isAlone`: no other lane runs at the same time. `only`: what was named after the stage, if it takes names. */
  readonly run: (output: Output, isAlone: boolean, only: readonly string[]) => Promise<Totals>;
  /** Stages of one lane take turns, lanes run at the same time. A stage without one has the machine to itself. */
  readonly lane?: Lane;
  /** Runs only when it is named: it takes longer than people wait for tests. */
  readonly onlyWhenNamed?: boolean;
  /** What follows its name on the command line says which parts of it to run. */
  readonly takesNames?: boolean;
  /** Refuses wrong names before anything runs. */
  readonly requireNames?: (only: readonly string[]) => Promise<void>;
};

const tsc = (output: Output, project: string) =>
  check(output, programOf("typescript", "bin/tsc"), "--noEmit", "-p", project);

/** What names of tests that need a browser contain: they are a stage of their own. */
const browserTest = ".browser.test.";

const harnessTests = "python/towpath_runner/tests";

/** Everything that otherwise tries a few cases or rounds, one after the other. */
async function thoroughly(output: Output): Promise<Totals> {
  const env = { TEST_THOROUGH: "1" };
  const files = [...(await testsThatImport("tests/thorough.ts")), browserTest];
  const packages = await vitest(output, "vitest.config.ts", files, env);
  const harness = await pytest(output, harnessTests, env);
  const instances = await vitest(output, "tests/vitest.config.ts", [], env);
  return together(packages, harness, instances);
}

const root = join(import.meta.dirname, "../../../..");
const tools = join(root, ".toolchain");

/** What can be known of a change within a minute: types, style and import rules, and the tests nearest to it. */
async function testChange(output: Output, base: string | undefined): Promise<Totals> {
  const { files, packages, instances, harness } = await testsOfChange(root, base);
  const checked = files.filter((path) => /\.(?:tsx?|json|css)$/.test(path));
  const types = together(tsc(output, "tsconfig.json"), tsc(output, "apps/web/tsconfig.json"));
  const lint = check(
    output,
    programOf("@biomejs/biome", "bin/biome"),
    ...["ci", "--error-on-warnings", "--no-errors-on-unmatched", ...checked],
  );
  const none = totalsOf(0);
  return together(
    ...[types, checked.length > 0 ? lint : none],
    packages.length > 0 ? vitest(output, "vitest.config.ts", packages) : none,
    harness ? pytest(output, harnessTests) : none,
    // Instances need the machine to themselves.
    types.then(() => (instances.length > 0 ? vitest(output, "tests/vitest.config.ts", instances) : none)),
  );
}

/** Against the Gitea that the launcher has built, if it could. */
async function withGitea(output: Output): Promise<Totals> {
  if (existsSync(join(tools, "gitea/built"))) return vitest(output, "tests/gitea/vitest.config.ts");
  const log = await readFile(join(tools, "gitea.log"), "utf8").catch(() => "");
  return skippedFor(`Gitea can't be built here (.toolchain/gitea.log): ${log.trim().split("\n").at(-1)}`);
}

/** @throws UsageError unless the first name is that of a file in `tests/bench` */
async function requireBenchmark([name = ""]: readonly string[]): Promise<void> {
  const files = await readdir(join(root, "tests/bench"));
  const known = files.filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -".ts".length));
  if (known.includes(name)) return;
  const problem = name === "" ? "Name a benchmark." : `There is no benchmark ${name}.${didYouMean(name, known)}`;
  throw new UsageError(`${problem} They are in tests/bench.`);
}

const workers = (isAlone: boolean, beside: number) => (isAlone ? [] : [`--maxWorkers=${beside}`]);

/** In the order in which a mistake is cheapest to learn of. */
export const stages: readonly Stage[] = [
  {
    name: "types",
    title: "Types",
    run: (output) => together(tsc(output, "tsconfig.json"), tsc(output, "apps/web/tsconfig.json")),
  },
  {
    name: "lint",
    title: "Lint and format",
    run: (output) => check(output, programOf("@biomejs/biome", "bin/biome"), "ci", "--error-on-warnings", "."),
  },
  {
    name: "imports",
    title: "Import rules",
    run: (output) =>
      check(
        output,
        programOf("dependency-cruiser", "bin/dependency-cruiser.mjs"),
        "--config",
        ".dependency-cruiser.cjs",
        "packages",
        "apps",
        "tests",
      ),
  },
  {
    name: "unused",
    title: "Nothing unused",
    run: (output) => check(output, programOf("knip", "bin/knip.js"), "--treat-config-hints-as-errors"),
  },
  {
    name: "requirements",
    title: "Promises with a test",
    run: (output) => check(output, "docs/list-unproven-requirements.ts", "--check"),
  },
  {
    name: "site",
    title: "Build of the site",
    // Once for all stages that follow, which would each build it.
    run: async () => {
      await ensureWebBuild();
      return totalsOf(1);
    },
  },
  {
    name: "unit",
    title: "Packages and processes",
    // Beside the other lanes one worker fewer: a third one saves no time.
    run: (output, isAlone) =>
      vitest(output, "vitest.config.ts", [`--exclude=**/*${browserTest}*`, ...workers(isAlone, 2)]),
    lane: "packages",
  },
  {
    name: "pages",
    title: "Pages in a browser",
    run: (output, isAlone) => vitest(output, "vitest.config.ts", [browserTest, ...workers(isAlone, 1)]),
    lane: "pages and harness",
  },
  {
    name: "harness",
    title: "Python harness",
    run: (output) => pytest(output, harnessTests),
    lane: "pages and harness",
  },
  {
    name: "e2e",
    title: "End to end",
    run: (output) => vitest(output, "tests/vitest.config.ts"),
    lane: "instances",
  },
  {
    name: "lifecycle",
    title: "Life of an instance",
    run: (output) =>
      vitest(output, "tests/lifecycle/vitest.config.ts", ["--exclude=**/{fresh-checkout,first-release}*"]),
    lane: "instances",
  },
  {
    name: "changed",
    title: "Around the change",
    // A commit may follow: what differs from it is tested.
    run: (output, _isAlone, [base]) => testChange(output, base),
    onlyWhenNamed: true,
    takesNames: true,
  },
  {
    name: "fresh",
    title: "A fresh checkout",
    // Whoever runs the other stages in one has seen most of it: everything installed, the site built, an instance up.
    run: (output) => vitest(output, "tests/lifecycle/vitest.config.ts", ["fresh-checkout"]),
    onlyWhenNamed: true,
  },
  {
    name: "upgrade",
    title: "Upgrade from the first release",
    // Installs that release too, and needs the repository's history.
    run: (output) => vitest(output, "tests/lifecycle/vitest.config.ts", ["first-release"]),
    onlyWhenNamed: true,
  },
  {
    name: "gitea",
    title: "Against a real Gitea",
    // Building it takes minutes, and a Go toolchain.
    run: withGitea,
    onlyWhenNamed: true,
  },
  {
    name: "commands",
    title: "Commands of the documentation",
    run: (output) => vitest(output, "tests/vitest.config.ts", ["documented-commands"], { TEST_THOROUGH: "1" }),
    onlyWhenNamed: true,
  },
  {
    name: "routes",
    title: "Every page in both themes",
    run: (output) => vitest(output, "vitest.config.ts", ["routes.browser"], { TEST_THOROUGH: "1" }),
    onlyWhenNamed: true,
  },
  { name: "thorough", title: "All rounds and cases", run: thoroughly, onlyWhenNamed: true },
  {
    name: "corpus",
    title: "Published servers",
    run: (output, _isAlone, only) => check(output, "tests/corpus/run.ts", ...only),
    onlyWhenNamed: true,
    takesNames: true,
  },
  {
    name: "bench",
    title: "Benchmark",
    // Its name, and the arguments that its first lines explain.
    run: (output, _isAlone, [name, ...args]) => check(output, `tests/bench/${name}.ts`, ...args),
    onlyWhenNamed: true,
    takesNames: true,
    requireNames: requireBenchmark,
  },
  { name: "chaos", title: "Chaos", run: (output) => check(output, "tests/chaos/run.ts"), onlyWhenNamed: true },
];
