import { writeSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import type { Output } from "./programs.ts";
import type { Stage } from "./stages.ts";
import { runStages } from "./test.ts";

const written = vi.spyOn(process.stdout, "write");
afterEach(() => void written.mockReset());

const stage = (name: string, run: Stage["run"], besideNext = false): Stage => ({ name, title: name, run, besideNext });
const passed = async () => ({ passed: 2, failures: [] });

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

test("stages that run beside the next one overlap with it, and the output of each comes in one piece", async () => {
  const nextHasBegun = Promise.withResolvers<void>();
  const beside = async (output: Output) => {
    if (output === "inherit") throw new Error("The output of both stages would be mixed.");
    writeSync(output, "first line\n");
    await nextHasBegun.promise;
    writeSync(output, "second line");
    return { passed: 1, failures: [] };
  };
  const next = async (output: Output) => {
    nextHasBegun.resolve();
    if (output !== "inherit") throw new Error("Nothing of it is shown while it runs.");
    return await passed();
  };
  const chosen = [stage("one", beside, true), stage("two", beside, true), stage("three", next)];
  const { status, lines } = await printedBy(chosen);
  expect(status).toBe(0);
  const printed = (name: string) => ["", name, "first line", "second line"];
  expect(lines.slice(0, 10)).toEqual(["", "three", ...printed("one"), ...printed("two")]);
  expect(lines.at(-1)).toBe("4 passed, 0 failed");
});

test("a failed stage doesn't keep the later ones from running, and the last line has the totals", async () => {
  const failed = async () => ({ passed: 4, failures: [{ name: "a test", message: "expected 1 to be 2" }] });
  const { status, lines } = await printedBy([stage("one", failed), stage("two", passed), stage("three", passed, true)]);
  expect(status).toBe(1);
  expect(lines.filter((line) => / passed {2}\d failed /.test(line)).map((line) => line.split(" ")[0])).toEqual([
    "one",
    "two",
    "three",
  ]);
  expect(lines.at(-1)).toBe("8 passed, 1 failed");
});

test("after the table the failures are named with the first lines of their messages, without colors", async () => {
  const message = `\u001b[31mAssertionError\u001b[39m: one\n\ntwo\nthree\nfour\nfive`;
  const many = Array.from({ length: 41 }, (_, number) => ({ name: `many ${number}`, message: "" }));
  const { lines } = await printedBy([
    stage("one", async () => ({ passed: 1, failures: [{ name: "a.test.ts > it works", message }] })),
    stage("two", async () => ({ passed: 0, failures: many })),
  ]);
  const table = lines.findIndex((line) => line.startsWith("two ") && line.includes("41 failed"));
  expect(lines.slice(table + 1, table + 8)).toEqual([
    "",
    "✗ one: a.test.ts > it works",
    "    AssertionError: one",
    "    two",
    "    three",
    "    four",
    "✗ two: many 0",
  ]);
  expect(lines.slice(-4)).toEqual(["✗ two: many 39", "✗ two: and 1 more", "", "1 passed, 42 failed"]);
});
