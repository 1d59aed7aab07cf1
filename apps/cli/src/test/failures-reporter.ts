import { writeFile } from "node:fs/promises";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import type { Failure, Totals } from "./totals.ts";

/** Vitest's reporter for `towpath test`: writes `Totals` as JSON to the file that the option `outputFile` names. */
export default class FailuresReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly { readonly message: string }[],
  ): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests("passed")]);
    const failures = modules.flatMap(failuresOf);
    for (const { message } of unhandled) failures.push({ name: "an unhandled error", message });
    const totals: Totals = { passed: tests.length, failures };
    await writeFile(String(this.#vitest?.config.outputFile), JSON.stringify(totals));
  }
}

/** Failed tests, and what failed without being a test: a file that doesn't load or never ends, and hooks. */
function failuresOf(module: TestModule): Failure[] {
  const file = module.relativeModuleId;
  const tests = [...module.children.allTests("failed")].map((test) => ({
    name: `${file} > ${test.fullName}`,
    message: test.result().errors?.[0]?.message ?? "",
  }));
  const suites = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map(({ message }) => ({ name: `${file} > ${suite.fullName}`, message })),
  );
  const own = module.errors().map(({ message }) => ({ name: file, message }));
  const ended = ["passed", "failed", "skipped"].includes(module.state());
  return [...tests, ...suites, ...own, ...(ended ? [] : [{ name: file, message: "The file did not end." }])];
}
