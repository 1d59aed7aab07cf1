import { builtWeb } from "../up/web-build.ts";
import type { Stage } from "./lanes.ts";
import { namedStages } from "./named-stages.ts";
import { check, programOf, pytest, ruff, together, tsc, vitest } from "./programs.ts";
import { browserTest, harnessTests, otherLifecycle } from "./test-files.ts";
import { totalsOf } from "./totals.ts";

/** Cheapest first. */
export const stages: readonly Stage[] = [
  {
    name: "types",
    title: "Types",
    run: (output) => together(tsc(output, "tsconfig.json"), tsc(output, "apps/web/tsconfig.json")),
  },
  {
    name: "lint",
    title: "Lint and format",
    run: (output) =>
      together(check(output, programOf("@biomejs/biome", "bin/biome"), "ci", "--error-on-warnings", "."), ruff(output)),
    lane: "checks",
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
    lane: "checks",
  },
  {
    name: "unused",
    title: "Nothing unused",
    run: (output) => check(output, programOf("knip", "bin/knip.js"), "--treat-config-hints-as-errors"),
    lane: "checks",
  },
  {
    name: "requirements",
    title: "Promises with a test",
    run: (output) => check(output, "docs/list-unproven-requirements.ts", "--check"),
    lane: "checks",
  },
  {
    name: "site",
    title: "Build of the site",
    // Once for all later stages, which would each build it.
    run: async () => {
      await builtWeb();
      return totalsOf(1);
    },
    lane: "site",
  },
  {
    name: "unit",
    title: "Packages and processes",
    // Most of them wait for processes: with fewer workers the other lanes end minutes earlier.
    run: (output) => vitest(output, "vitest.config.ts", [`--exclude=**/*${browserTest}*`]),
    lane: "packages",
  },
  {
    name: "pages",
    title: "Pages in a browser",
    run: (output, isAlone) => vitest(output, "vitest.config.ts", [browserTest, ...(isAlone ? [] : ["--maxWorkers=1"])]),
    lane: "pages",
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
    run: (output) => vitest(output, "tests/lifecycle/vitest.config.ts", [otherLifecycle]),
    lane: "instances",
  },
  {
    name: "harness",
    title: "Python harness",
    run: (output) => pytest(output, harnessTests),
    lane: "harness",
  },
  ...namedStages,
];
