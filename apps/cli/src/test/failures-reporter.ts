import { readFile, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import { titlesIn } from "../../../../docs/requirements.ts";
import { emptyReport, type Failure } from "./totals.ts";

/** Vitest's reporter for `towpath test`: writes a `Report` as JSON to the file that the option `outputFile` names. */
export default class FailuresReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Unhandled[]): Promise<void> {
    const report = emptyReport();
    for (const module of modules) {
      const passed = [...module.children.allTests("passed")].length;
      const errors = unhandled.filter(({ VITEST_TEST_PATH: path }) => path === module.moduleId);
      const failures = [...failuresOf(module), ...errors.map((error) => this.#failureOf(error))];
      // After a failure, tests are skipped for that reason.
      if (failures.length === 0) report.notShown.push(...(await notShownBy(module)));
      if (failures.length === 0) report.passed += passed;
      else report.failedFiles.push({ path: module.moduleId, passed, failures });
    }
    const files = modules.map(({ moduleId }) => moduleId);
    const others = unhandled.filter(({ VITEST_TEST_PATH: path }) => path === undefined || !files.includes(path));
    report.failures.push(...others.map((error) => this.#failureOf(error)));
    await writeFile(String(this.#vitest?.config.outputFile), JSON.stringify(report));
  }

  #failureOf({ message, stack, VITEST_TEST_PATH: path, VITEST_TEST_NAME: test }: Unhandled): Failure {
    const root = this.#vitest?.config.root ?? "";
    const during = [path && relative(root, path), test].filter(Boolean).join(" > ");
    // Where our code threw it.
    const place = stack?.split("\n").find((line) => line.includes(root) && !line.includes("node_modules"));
    const name = during === "" ? "an unhandled error" : `${during}: an unhandled error`;
    return { name, message: place ? `${message}\n${place.trim()}` : message };
  }
}

/** An unhandled error, with the file and the test that ran at the time. */
type Unhandled = {
  readonly message: string;
  readonly stack?: string | undefined;
  readonly VITEST_TEST_PATH?: string;
  readonly VITEST_TEST_NAME?: string;
};

/** Skipped tests that show a promise, but for those that only `towpath test thorough` runs. */
async function notShownBy(module: TestModule): Promise<string[]> {
  const skipped = [...module.children.allTests("skipped")].filter(({ fullName }) => /\b[A-Z]{2,}-\d+\b/.test(fullName));
  if (skipped.length === 0) return [];
  const titles = titlesIn(await readFile(module.moduleId, "utf8"));
  return skipped.flatMap(({ name, fullName }) =>
    titles.includes(name) ? [`${module.relativeModuleId} > ${fullName}`] : [],
  );
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
