import { defineConfig } from "vitest/config";

// End to end: everything here runs against a real `./towpath up`, started once for all files.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ["{e2e,conformance}/**/*.test.ts"],
    setupFiles: ["./fail-on-console.ts"],
    globalSetup: ["./instance/global-setup.ts"],
    testTimeout: 120_000,
    // The default of one second is shorter than a busy machine takes for a save and a refetch.
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 180_000,
    // One machine, one instance: files take turns.
    fileParallelism: false,
  },
});
