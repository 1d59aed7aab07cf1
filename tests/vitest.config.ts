import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A runner that starts again adopts every server and prepares an interpreter for each kind: the fewer, the less work. */
class KillsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLater = ({ moduleId }: TestSpecification) => Number(!moduleId.endsWith("/kills.test.ts"));
    return (await super.sort(files)).toSorted((one, other) => isLater(one) - isLater(other));
  }
}

// End to end: everything here runs against a real `./towpath up`, started once for all files.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ["{e2e,conformance}/**/*.test.ts"],
    setupFiles: ["./fail-on-console.ts", "./refuse-stray-kills.ts"],
    globalSetup: ["./instance/global-setup.ts"],
    // Fewer collections of the young generation: a twelfth less processor time.
    execArgv: ["--max-semi-space-size=64"],
    testTimeout: 120_000,
    // The default of one second is too short for a save and a refetch on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 180_000,
    // One machine, one instance: files take turns. They share one module graph, as in ../vitest.config.ts.
    fileParallelism: false,
    isolate: false,
    sequence: { sequencer: KillsFirst },
  },
});
