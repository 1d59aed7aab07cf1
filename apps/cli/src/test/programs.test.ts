import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { pytest, vitest } from "./programs.ts";
import { failuresOf, type Output, passedOf, type Totals, totalsOf } from "./totals.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-programs-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs a program with its output in a file; returns it as text. */
async function runInto<Result>(run: (output: Output) => Promise<Result>): Promise<{ result: Result; printed: string }> {
  const path = join(directory, "output");
  const file = await open(path, "w");
  const result = await run(file.fd);
  await file.close();
  return { result, printed: await readFile(path, "utf8") };
}

test("OPS-1 vitest's totals name failed tests, hooks, files that don't load, unhandled errors and skipped tests of promises", async () => {
  const { result } = await runInto((output) => vitest(output, "apps/cli/src/test/testing/vitest.config.ts"));
  const found = failuresOf(result).map(({ name, message }) => [name, message.split("\n")[0]]);
  expect([passedOf(result), found.toSorted()]).toEqual([
    4,
    [
      ["hook.fixture.ts > a group", "the hook failed"],
      ["load.fixture.ts", "the file does not load"],
      ["tests.fixture.ts > one that fails", "expected 'this' to be 'that' // Object.is equality"],
      ["tests.fixture.ts: an unhandled error", "nobody waited for this"],
    ],
  ]);
  expect(result.notShown).toEqual([
    "skipped.fixture.ts > ZZ-1 needs what this machine lacks",
    "skipped.fixture.ts > ZZ-2 so does a group > one of it",
  ]);
});

test("OPS-1 a vitest that ends before it reports is one failure", async () => {
  const { result } = await runInto((output) => vitest(output, "apps/cli/src/test/testing/no-such.config.ts"));
  expect(result).toMatchObject({
    passed: 0,
    failures: [{ name: expect.stringContaining("no-such.config.ts"), message: expect.stringContaining("status 1") }],
  });
});

/** Reruns the file of `failed` whose path ends with `name`, alone. */
async function runAgain(failed: Totals, name: string): Promise<Totals> {
  const file = failed.failedFiles.find(({ path }) => path.endsWith(`/${name}`));
  if (file === undefined) throw new Error(`${name} did not fail.`);
  return (await runInto(file.runAlone)).result;
}

test.runIf(isThorough)(
  "OPS-1 a failed file of vitest runs again alone, with the settings of the first run",
  async () => {
    const config = "apps/cli/src/test/testing/vitest.config.ts";
    const env = { TEST_ATTEMPT_FILE: join(directory, "vitest-attempt") };
    const { result } = await runInto((output) => vitest(output, config, [], env));
    expect(await runAgain(result, "second.fixture.ts")).toEqual(totalsOf(2));
    const again = await runAgain(result, "tests.fixture.ts");
    expect([passedOf(again), failuresOf(again).map(({ name }) => name)]).toEqual([
      2,
      ["tests.fixture.ts > one that fails", "tests.fixture.ts: an unhandled error"],
    ]);
  },
);

const python = `import pytest

def test_passes():
    pass

def test_is_skipped():
    pytest.skip("not here")

def test_ZZ_1_is_skipped():
    pytest.skip("not here")

@pytest.mark.parametrize("value", ["<&>"])
def test_fails(value):
    assert value == "a \\"b\\"", "two\\nlines"

@pytest.fixture
def broken():
    raise RuntimeError("no fixture")

def test_has_no_fixture(broken):
    pass
`;

test("OPS-1 pytest's totals name failed tests and those that could not be set up", async () => {
  await writeFile(join(directory, "test_sample.py"), python);
  const { result, printed } = await runInto((output) => pytest(output, directory));
  expect(passedOf(result), printed).toBe(1);
  expect(result.notShown).toEqual(["test_sample > test_ZZ_1_is_skipped"]);
  expect(failuresOf(result)).toEqual([
    { name: "test_sample > test_fails[<&>]", message: expect.stringMatching(/^AssertionError: two\n/) },
    {
      name: "test_sample > test_has_no_fixture",
      message: expect.stringContaining("RuntimeError: no fixture"),
    },
  ]);
});

const passesAgain = `import os, pathlib

def test_passes():
    pass

def test_passes_the_second_time():
    attempt = pathlib.Path(os.environ["TEST_ATTEMPT_FILE"])
    is_first = not attempt.exists()
    attempt.touch()
    assert not is_first
`;

test.runIf(isThorough)(
  "OPS-1 a failed file of pytest runs again alone, with the settings of the first run",
  async () => {
    const tests = join(directory, "again");
    await mkdir(tests);
    await writeFile(join(tests, "test_second.py"), passesAgain);
    await writeFile(join(tests, "test_sample.py"), python);
    const env = { TEST_ATTEMPT_FILE: join(directory, "pytest-attempt") };
    const { result } = await runInto((output) => pytest(output, tests, env));
    expect([passedOf(result), failuresOf(result).length]).toEqual([2, 3]);
    expect(await runAgain(result, "test_second.py")).toEqual(totalsOf(2));
  },
);

test.runIf(isThorough)("OPS-1 a pytest without a test is a failure", async () => {
  const { result } = await runInto((output) => pytest(output, join(directory, "nothing")));
  expect(result).toMatchObject({ passed: 0, failures: [{ message: expect.stringContaining("Ended with status") }] });
});
