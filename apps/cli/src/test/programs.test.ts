import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Output, pytest, vitest } from "./programs.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-programs-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs a program with its output in a file, which comes back as text. */
async function runInto<Result>(run: (output: Output) => Promise<Result>): Promise<{ result: Result; printed: string }> {
  const path = join(directory, "output");
  const file = await open(path, "w");
  const result = await run(file.fd);
  await file.close();
  return { result, printed: await readFile(path, "utf8") };
}

test("OPS-1 vitest's totals name failed tests, hooks, files that don't load and unhandled errors", async () => {
  const { result } = await runInto((output) => vitest(output, "apps/cli/src/test/testing/vitest.config.ts"));
  const found = result.failures.map(({ name, message }) => [name, message.split("\n")[0]]);
  expect([result.passed, found.toSorted()]).toEqual([
    2,
    [
      ["hook.fixture.ts > a group", "the hook failed"],
      ["load.fixture.ts", "the file does not load"],
      ["tests.fixture.ts > one that fails", "expected 'this' to be 'that' // Object.is equality"],
      ["tests.fixture.ts: an unhandled error", "nobody waited for this"],
    ],
  ]);
});

test("OPS-1 a vitest that ends before it reports is one failure", async () => {
  const { result } = await runInto((output) => vitest(output, "apps/cli/src/test/testing/no-such.config.ts"));
  expect(result).toMatchObject({
    passed: 0,
    failures: [{ name: expect.stringContaining("no-such.config.ts"), message: expect.stringContaining("status 1") }],
  });
});

const python = `import pytest

def test_passes():
    pass

def test_is_skipped():
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
  expect(result.passed, printed).toBe(1);
  expect(result.failures).toEqual([
    { name: "test_sample > test_fails[<&>]", message: expect.stringMatching(/^AssertionError: two\n/) },
    {
      name: "test_sample > test_has_no_fixture",
      message: expect.stringContaining("RuntimeError: no fixture"),
    },
  ]);
});

test("OPS-1 a pytest without a test is a failure", async () => {
  const { result } = await runInto((output) => pytest(output, join(directory, "nothing")));
  expect(result).toMatchObject({ passed: 0, failures: [{ message: expect.stringContaining("Ended with status") }] });
});
