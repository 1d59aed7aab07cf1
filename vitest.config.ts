import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // The one alias there is: apps/web/tsconfig.json.
  resolve: { alias: { "~": join(import.meta.dirname, "apps/web/src") } },
  test: {
    include: [
      "packages/**/*.test.ts",
      "apps/**/*.test.ts",
      "apps/**/*.test.tsx",
      "docs/**/*.test.ts",
      "tests/github/**/*.test.ts",
    ],
    setupFiles: ["tests/fail-on-console.ts", "tests/refuse-stray-kills.ts"],
    globalSetup: ["packages/db/src/testing/global-setup.ts"],
    // Fewer collections of the young generation: a twelfth less processor time.
    execArgv: ["--max-semi-space-size=64"],
    // What a test waits for has a limit of its own; this one is for those that start many processes on a busy machine.
    testTimeout: 60_000,
    // The default of one second is too short for a save and a refetch on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 60_000,
    // Files share the module graph of their worker: loading it for each took a third of the run's processor time. A
    // file restores what it changes: vitest restores mocks, these here do the rest, and nothing else is set on globals.
    isolate: false,
    unstubEnvs: true,
    unstubGlobals: true,
    // More than cores: tests mostly wait for processes, leases and time limits.
    maxWorkers: Math.min(3, availableParallelism() + 1),
  },
});
