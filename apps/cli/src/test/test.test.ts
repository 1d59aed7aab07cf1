import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import type { Output } from "./programs.ts";
import type { Stage } from "./stages.ts";
import { runStages } from "./test.ts";

const written = vi.spyOn(process.stdout, "write");
afterEach(() => void written.mockReset());

const stage = (name: string, run: Stage["run"], lane?: Stage["lane"]): Stage => ({
  name,
  title: name,
  run,
  ...(lane && { lane }),
});
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

test("lanes overlap, stages of a lane take turns, and the output of each stage comes in one piece", async () => {
  const bothRun = Promise.withResolvers<void>();
  const order: string[] = [];
  const first = async (output: Output, isAlone: boolean) => {
    order.push("first");
    await bothRun.promise;
    if (output !== "inherit" || isAlone) throw new Error("The first lane prints while it runs, beside the others.");
    return await passed();
  };
  const beside = (name: string) => async (output: Output) => {
    if (output === "inherit") throw new Error("The output of both lanes would be mixed.");
    writeSync(output, `${name} begins\n`);
    order.push(name);
    bothRun.resolve();
    await sleep(20);
    order.push(`${name} ended`);
    writeSync(output, `${name} ends`);
    return { passed: 1, failures: [] };
  };
  const alone = async (_: Output, isAlone: boolean) => ({ passed: isAlone ? 1 : 0, failures: [] });
  const { status, lines } = await printedBy([
    stage("zero", alone),
    stage("one", first, "packages"),
    stage("two", beside("two"), "instances"),
    stage("three", beside("three"), "instances"),
    stage("four", alone),
  ]);
  expect(status).toBe(0);
  expect(order).toEqual(["first", "two", "two ended", "three", "three ended"]);
  const printed = (name: string) => ["", name, `${name} begins`, `${name} ends`];
  expect(lines.slice(0, 14)).toEqual(["", "zero", "", "one", ...printed("two"), ...printed("three"), "", "four"]);
  expect(lines.at(-1)).toBe("6 passed, 0 failed");
});

test("a failed stage doesn't keep the later ones from running, and the last line has the totals", async () => {
  const failed = async () => ({ passed: 4, failures: [{ name: "a test", message: "expected 1 to be 2" }] });
  const { status, lines } = await printedBy([
    stage("one", failed),
    stage("two", passed),
    stage("three", passed, "instances"),
  ]);
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

test("BLD-16 what follows a stage that takes names says which parts of it run", async () => {
  const seen: (readonly string[])[] = [];
  const run: Stage["run"] = async (_output, _isAlone, only) => {
    seen.push(only);
    return { passed: 1, failures: [] };
  };
  written.mockImplementation(() => true);
  await runStages([stage("corpus", run)], ["one", "two"]);
  expect(seen).toEqual([["one", "two"]]);
});
