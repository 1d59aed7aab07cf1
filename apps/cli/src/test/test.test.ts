import { writeSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import type { Output, Stage } from "./stages.ts";
import { runStages } from "./test.ts";

const written = vi.spyOn(process.stdout, "write");
afterEach(() => void written.mockReset());

const stage = (name: string, run: Stage["run"], besideNext = false): Stage => ({ name, title: name, run, besideNext });
const passed = async () => ({ passed: 2, failed: 0 });

/** What was printed, without colors. */
async function printedBy(chosen: readonly Stage[]): Promise<{ status: number; lines: string[] }> {
  let text = "";
  written.mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const status = await runStages(chosen);
  return { status, lines: stripVTControlCharacters(text).trimEnd().split("\n") };
}

test("a stage that runs beside the next one overlaps with it, and its output comes in one piece", async () => {
  const nextHasBegun = Promise.withResolvers<void>();
  const beside = async (output: Output) => {
    if (output === "inherit") throw new Error("The output of both stages would be mixed.");
    writeSync(output, "first line\n");
    await nextHasBegun.promise;
    writeSync(output, "second line");
    return { passed: 1, failed: 0 };
  };
  const next = async (output: Output) => {
    nextHasBegun.resolve();
    return output === "inherit" ? await passed() : { passed: 0, failed: 1 };
  };
  const { status, lines } = await printedBy([stage("one", beside, true), stage("two", next)]);
  expect(status).toBe(0);
  expect(lines.slice(0, 6)).toEqual(["", "two", "", "one", "first line", "second line"]);
  expect(lines.at(-1)).toBe("3 passed, 0 failed");
});

test("a failed stage doesn't keep the later ones from running, and the last line has the totals", async () => {
  const failed = async () => ({ passed: 4, failed: 1 });
  const { status, lines } = await printedBy([stage("one", failed), stage("two", passed), stage("three", passed, true)]);
  expect(status).toBe(1);
  expect(lines.filter((line) => / passed {2}\d failed /.test(line)).map((line) => line.split(" ")[0])).toEqual([
    "one",
    "two",
    "three",
  ]);
  expect(lines.at(-1)).toBe("8 passed, 1 failed");
});
