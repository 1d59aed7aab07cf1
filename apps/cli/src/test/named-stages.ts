import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot as root } from "../repository-root.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { UsageError } from "../terminal/terminal.ts";
import { testsOfChange } from "./changed.ts";
import type { Stage } from "./lanes.ts";
import { check, programOf, pytest, ruff, testsThatImport, together, tsc, vitest } from "./programs.ts";
import { browserTest, carried, harnessTests, otherLifecycle } from "./test-files.ts";
import { type Output, skippedFor, type Totals, totalsOf } from "./totals.ts";

/** Runs all rounds and cases of the tests that otherwise try a few, one after the other. */
async function thoroughly(output: Output): Promise<Totals> {
  const env = { TEST_THOROUGH: "1" };
  const files = [...(await testsThatImport("thorough.ts")), browserTest];
  const packages = await vitest(output, "vitest.config.ts", files, env);
  const harness = await pytest(output, harnessTests, env);
  const instances = await vitest(output, "tests/vitest.config.ts", [], env);
  const lives = await vitest(output, "tests/lifecycle/vitest.config.ts", [otherLifecycle], env);
  return together(packages, harness, instances, lives);
}

const tools = join(root, ".toolchain");

/** Checks a change within a minute: types, style and import rules, and the nearest tests. */
async function testChange(output: Output, base: string | undefined): Promise<Totals> {
  const { files, packages, instances, harness } = await testsOfChange(root, base);
  const checked = files.filter((path) => /\.(?:tsx?|json|css)$/.test(path));
  const types = together(tsc(output, "tsconfig.json"), tsc(output, "apps/web/tsconfig.json"));
  const lint = check(
    output,
    programOf("@biomejs/biome", "bin/biome"),
    "ci",
    "--error-on-warnings",
    "--no-errors-on-unmatched",
    ...checked,
  );
  const none = totalsOf(0);
  return together(
    types,
    checked.length > 0 ? lint : none,
    packages.length > 0 ? vitest(output, "vitest.config.ts", packages) : none,
    files.some((path) => path.endsWith(".py")) ? ruff(output) : none,
    harness ? pytest(output, harnessTests) : none,
    // Instances need the machine to themselves.
    types.then(() => (instances.length > 0 ? vitest(output, "tests/vitest.config.ts", instances) : none)),
  );
}

/**
 * Against a program that the launcher has built for the stage, if it could: `ensure_go_programs`. `inside`: see `vitest`.
 */
const against =
  (stage: string, program: string, inside?: string) =>
  async (output: Output): Promise<Totals> => {
    if (existsSync(join(tools, stage, "built")))
      return vitest(output, `tests/${stage}/vitest.config.ts`, [], {}, inside);
    const log = await readFile(join(tools, `${stage}.log`), "utf8").catch(() => "");
    return skippedFor(`${program} can't be built here (.toolchain/${stage}.log): ${log.trim().split("\n").at(-1)}`);
  };

/** @throws UsageError unless the first name is that of a file in `tests/bench` */
async function requireBenchmark([name = ""]: readonly string[]): Promise<void> {
  const files = await readdir(join(root, "tests/bench"));
  const known = files.filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -".ts".length));
  if (known.includes(name)) return;
  const problem = name === "" ? "Name a benchmark." : `There is no benchmark ${name}.${didYouMean(name, known)}`;
  throw new UsageError(`${problem} They are in tests/bench.`);
}

/** Those that only run when they are named. */
export const namedStages: readonly Stage[] = [
  {
    name: "changed",
    title: "Around the change",
    // A commit may follow: changes since it are tested.
    run: (output, _isAlone, [base]) => testChange(output, base),
    onlyWhenNamed: true,
    takesNames: true,
  },
  {
    name: "fresh",
    title: "A fresh checkout",
    // The other stages cover most of it: everything installed, the site built, an instance up.
    run: (output) => vitest(output, "tests/lifecycle/vitest.config.ts", ["fresh-checkout"]),
    onlyWhenNamed: true,
  },
  {
    name: "carry",
    title: "Upgrades, back-up, restore and power cuts",
    // Installs the first release, too, which needs the repository's history, and starts many instances.
    run: (output) => vitest(output, "tests/lifecycle/vitest.config.ts", carried),
    onlyWhenNamed: true,
  },
  {
    name: "postgres",
    title: "Each PostgreSQL that may be used",
    // Runs the tests of packages, processes and an instance with each.
    run: (output) => vitest(output, "tests/lifecycle/vitest.config.ts", ["each-postgres"]),
    onlyWhenNamed: true,
  },
  {
    name: "gitea",
    title: "Against a real Gitea",
    // Building it needs minutes and a Go toolchain.
    run: against("gitea", "Gitea"),
    onlyWhenNamed: true,
  },
  {
    name: "s3",
    title: "Against a real S3 service",
    // Building it needs a minute or two and a Go toolchain.
    run: against("s3", "versitygw"),
    onlyWhenNamed: true,
  },
  {
    name: "https",
    title: "HTTPS with a real certificate authority",
    // Needs Caddy and a Go toolchain.
    run: against("https", "Pebble"),
    onlyWhenNamed: true,
  },
  {
    name: "gvisor",
    title: "Isolation by gVisor",
    // Needs runsc and root.
    run: (output) => vitest(output, "tests/gvisor/vitest.config.ts"),
    onlyWhenNamed: true,
  },
  {
    name: "image",
    title: "Image and compose file",
    // Builds the image, which takes minutes, and needs root.
    run: (output) => vitest(output, "tests/image/vitest.config.ts"),
    onlyWhenNamed: true,
  },
  {
    name: "chart",
    title: "Helm chart",
    // Building Helm takes some minutes and a Go toolchain, once.
    run: against("chart", "Helm"),
    onlyWhenNamed: true,
  },
  {
    name: "kubernetes",
    title: "In a Kubernetes cluster",
    // Building the cluster's programs needs a quarter of an hour and a Go toolchain, once; it needs root.
    run: against("kubernetes", "Kubernetes", join(root, "tests/kubernetes/in-namespaces")),
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
