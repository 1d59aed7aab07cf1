import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { lanesAtOnce, type Stage } from "./lanes.ts";
import { chooseStages, runStages } from "./test.ts";
import { type FailedFile, type Output, skippedFor, type Totals, totalsOf } from "./totals.ts";

const written = vi.spyOn(process.stdout, "write");
afterEach(() => void written.mockReset());

const stage = (name: string, run: Stage["run"], lane?: Stage["lane"]): Stage => ({
  name,
  title: name,
  run,
  ...(lane && { lane }),
});
const passed = async () => totalsOf(2);

/** A file with a passed and a failed test; `alone`: its result when it runs again. */
const failedFile = (name: string, alone: FailedFile["runAlone"]): FailedFile => ({
  path: `${process.cwd()}/${name}`,
  passed: 1,
  failures: [{ name: `${name} > works`, message: "Timed out" }],
  runAlone: alone,
});
const withFiles = (...failedFiles: FailedFile[]): Totals => ({ ...totalsOf(2), failedFiles });

/** The output, without colors. */
async function printedBy(
  chosen: readonly Stage[],
  leftOut: readonly string[] = [],
): Promise<{ status: number; lines: string[] }> {
  let text = "";
  written.mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const status = await runStages(chosen, { leftOut });
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
    return totalsOf(1);
  };
  const alone = async (_: Output, isAlone: boolean) => totalsOf(isAlone ? 1 : 0);
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
  const failed = async () => totalsOf(4, { name: "a test", message: "expected 1 to be 2" });
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

test("OPS-1 a stage that can't run here is skipped with the reason, and a run of nothing else is not green", async () => {
  const skipped = stage("one", async () => skippedFor("There is no compiler."));
  const beside = await printedBy([skipped, stage("two", passed)]);
  expect([beside.status, beside.lines.at(-1)]).toEqual([0, "2 passed, 0 failed, 1 skipped"]);
  expect(beside.lines).toContainEqual(expect.stringMatching(/^one +skipped: There is no compiler\.$/));
  const alone = await printedBy([skipped]);
  expect([alone.status, alone.lines.at(-1)]).toEqual([1, "0 passed, 0 failed, 1 skipped"]);
});

test("after the table the failures are named with the first lines of their messages, without colors", async () => {
  const message = `\u001b[31mAssertionError\u001b[39m: one\n\ntwo\nthree\nfour\nfive`;
  const many = Array.from({ length: 41 }, (_, number) => ({ name: `many ${number}`, message: "" }));
  const { lines } = await printedBy([
    stage("one", async () => totalsOf(1, { name: "a.test.ts > it works", message })),
    stage("two", async () => totalsOf(0, ...many)),
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

test("BLD-16 names after a stage that takes names select its parts", async () => {
  const seen: (readonly string[])[] = [];
  const run: Stage["run"] = async (_output, _isAlone, only) => {
    seen.push(only);
    return totalsOf(1);
  };
  written.mockImplementation(() => true);
  await runStages([stage("corpus", run)], { only: ["one", "two"] });
  expect(seen).toEqual([["one", "two"]]);
});

test("OPS-1 on one processor two lanes run at the same time, and the others after the second", async () => {
  const running = new Set<string>();
  const together: string[] = [];
  const during = (name: string) => async () => {
    running.add(name);
    await sleep(20);
    together.push([...running].toSorted().join(" "));
    running.delete(name);
    return totalsOf(1);
  };
  written.mockImplementation(() => true);
  const long = async () => {
    running.add("unit");
    await sleep(200);
    running.delete("unit");
    return totalsOf(1);
  };
  const others = (["pages", "instances", "harness"] as const).map((name) => stage(name, during(name), name));
  expect(await runStages([stage("unit", long, "packages"), ...others], { atOnce: lanesAtOnce(1) })).toBe(0);
  expect(together).toEqual(["pages unit", "instances unit", "harness unit"]);
});

test("lanes begin when those that they need have ended", async () => {
  const running = new Set<string>();
  const together: string[][] = [];
  const noting = (name: string) => async () => {
    running.add(name);
    await sleep(20);
    together.push([...running]);
    running.delete(name);
    return totalsOf(1);
  };
  const one = stage("lint", noting("lint"), "checks");
  const two = stage("site", noting("site"), "site");
  await printedBy([one, two, stage("unit", noting("unit"), "packages"), stage("pages", noting("pages"), "pages")]);
  expect(together.slice(0, 2)).toContainEqual(["lint", "site"]);
  expect(together.slice(2)).toContainEqual(["unit", "pages"]);
  expect(together.slice(2).flat()).not.toContain("site");
});

test("OPS-1 a failed file runs again after the lanes have ended, and is unsteady if it passes then", async () => {
  const order: string[] = [];
  const again = async () => {
    order.push("again");
    return totalsOf(2);
  };
  const beside = async () => {
    await sleep(20);
    order.push("beside ended");
    return totalsOf(1);
  };
  const { status, lines } = await printedBy([
    stage("one", async () => withFiles(failedFile("a.test.ts", again)), "packages"),
    stage("two", beside, "instances"),
    stage("three", async () => {
      order.push("three");
      return totalsOf(1);
    }),
  ]);
  expect(status).toBe(0);
  expect(order).toEqual(["beside ended", "again", "three"]);
  const begun = lines.indexOf("Again, alone: a.test.ts");
  expect(lines.slice(begun, begun + 4)).toEqual([
    "Again, alone: a.test.ts",
    "✗ failed first: a.test.ts > works",
    "    Timed out",
    "~ a.test.ts passed alone",
  ]);
  expect(lines).toContainEqual(expect.stringMatching(/^one +4 passed {2}0 failed {2}1 unsteady/));
  expect(lines.slice(-5)).toEqual([
    "1 unsteady: failed first, passed when run again alone",
    "~ one: a.test.ts > works",
    "    Timed out",
    "",
    "6 passed, 0 failed",
  ]);
});

test("OPS-1 a file that also fails alone has failed, and the others continue", async () => {
  const never = async () => totalsOf(1, { name: "a.test.ts > works", message: "Timed out again" });
  const { status, lines } = await printedBy([
    stage("one", async () => withFiles(failedFile("a.test.ts", never), failedFile("b.test.ts", passed))),
    stage("two", passed),
  ]);
  expect(status).toBe(1);
  expect(lines).toContain("✗ a.test.ts failed again");
  expect(lines.slice(-8)).toEqual([
    "1 unsteady: failed first, passed when run again alone",
    "~ one: b.test.ts > works",
    "    Timed out",
    "",
    "✗ one: a.test.ts > works",
    "    Timed out",
    "",
    "7 passed, 1 failed",
  ]);
});

test("OPS-1 more than three unsteady files fail the run", async () => {
  const unsteady = ["a", "b", "c", "d"].map((name) => failedFile(`${name}.test.ts`, passed));
  const three = await printedBy([stage("one", async () => withFiles(...unsteady.slice(1)))]);
  expect([three.status, three.lines.at(-1)]).toEqual([0, "8 passed, 0 failed"]);
  const four = await printedBy([
    stage("one", async () => withFiles(...unsteady.slice(2))),
    stage("two", async () => withFiles(...unsteady.slice(0, 2))),
  ]);
  expect(four.status).toBe(1);
  expect(four.lines.slice(-3)).toEqual([
    "✗ 4 unsteady test files; a run with more than 3 fails",
    "",
    "12 passed, 1 failed",
  ]);
});

test("OPS-1 when more than ten files of a stage fail, none runs again", async () => {
  const files = Array.from({ length: 11 }, (_, number) => failedFile(`${number}.test.ts`, passed));
  const { status, lines } = await printedBy([stage("one", async () => withFiles(...files))]);
  expect(status).toBe(1);
  expect(lines).toContain("11 test files failed. Up to 10 would be run again alone.");
  expect(lines.at(-1)).toBe("13 passed, 11 failed");
});

test("skipped tests that show promises are listed before the totals, and fail nothing", async () => {
  const notShown = ["a.test.ts > GW-10 with a full disk"];
  const { status, lines } = await printedBy([stage("one", async () => ({ ...totalsOf(1), notShown }))]);
  expect([status, lines.at(-1)]).toEqual([0, "1 passed, 0 failed"]);
  expect(lines).toContain("- one: a.test.ts > GW-10 with a full disk");
});

test("OPS-1 a run without names lists the stages that it leaves out before the totals, a run of named ones none", async () => {
  const { chosen, leftOut } = chooseStages([]);
  expect(chosen.map(({ name }) => name)).toEqual(expect.arrayContaining(["types", "unit", "e2e", "harness"]));
  expect(leftOut).toEqual(expect.arrayContaining(["kubernetes", "chart", "carry", "thorough"]));
  const { lines } = await printedBy([stage("one", passed)], leftOut);
  expect(lines.slice(-4)).toEqual([
    "",
    `Not run: ${leftOut.join(", ")}. Run one with ./towpath test NAME.`,
    "",
    "2 passed, 0 failed",
  ]);
  expect(chooseStages(["chart", "types"])).toMatchObject({
    chosen: [{ name: "types" }, { name: "chart" }],
    leftOut: [],
  });
  expect((await printedBy([stage("one", passed)])).lines.join()).not.toContain("Not run");
});
