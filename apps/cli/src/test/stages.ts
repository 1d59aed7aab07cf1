import { ensureWebBuild } from "../up/web-build.ts";
import { check, type Output, programOf, pytest, together, vitest } from "./programs.ts";
import type { Totals } from "./totals.ts";

export type Stage = {
  readonly name: string;
  readonly title: string;
  readonly run: (output: Output) => Promise<Totals>;
  /** Runs at the same time as the stages after it, up to the first one without this mark, which mostly waits. */
  readonly besideNext?: boolean;
  /** Runs only when it is named: it takes longer than people wait for tests. */
  readonly onlyWhenNamed?: boolean;
};

const tsc = (output: Output, project: string) =>
  check(output, programOf("typescript", "bin/tsc"), "--noEmit", "-p", project);

let site: Promise<void> | undefined;
/** Several stages start instances at the same time: the first one to come builds the site for all. */
const builtSite = () => {
  site ??= ensureWebBuild();
  return site;
};

const onInstances = async (output: Output, config: string) => {
  await builtSite();
  return await vitest(output, config);
};

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
  { name: "unit", title: "Packages and processes", run: (output) => vitest(output, "vitest.config.ts") },
  {
    name: "harness",
    title: "Python harness",
    run: (output) => pytest(output, "python/towpath_runner/tests"),
    besideNext: true,
  },
  {
    name: "lifecycle",
    title: "Life of an instance",
    run: (output) => onInstances(output, "tests/lifecycle/vitest.config.ts"),
    besideNext: true,
  },
  { name: "e2e", title: "End to end", run: (output) => onInstances(output, "tests/vitest.config.ts") },
  {
    name: "interleavings",
    title: "Interleavings of deliveries",
    run: (output) => vitest(output, "vitest.config.ts", ["webhook/interleavings"], { TEST_INTERLEAVINGS: "1000" }),
    onlyWhenNamed: true,
  },
  { name: "chaos", title: "Chaos", run: (output) => check(output, "tests/chaos/run.ts"), onlyWhenNamed: true },
];
