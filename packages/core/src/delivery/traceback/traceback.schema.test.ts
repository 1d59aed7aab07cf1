import { expect, test } from "vitest";
import { FrameFolder, foldedTitle, foldFrames, raisedIn, withoutBoxes } from "./traceback.schema.ts";

const library = "/app/.venv/lib/python3.11/site-packages";
const frame = (path: string, line: number, name: string, source: string) => [
  `  File "${path}", line ${line}, in ${name}`,
  `    ${source}`,
  `    ${"^".repeat(source.length)}`,
];
const ofFramework = [
  ...frame(`${library}/fastmcp/server/server.py`, 1497, "call_tool", "return await tool._run(arguments)"),
  ...frame(`${library}/fastmcp/tools/base.py`, 452, "_run", "return await self.run(arguments)"),
];
const own = frame("/app/src/tools/prices.py", 7, "parse", "return float(price)");
const begin = "Traceback (most recent call last):";
const raised = "ValueError: could not convert string to float: 'four'";
const logged = ["ERROR: Error calling tool 'total'", begin, ...ofFramework, ...own, raised, "after"];
/** Folded lines as their number in brackets. */
const shown = (lines: readonly string[]) =>
  foldFrames(lines, (line) => line).flatMap((group) => (group.isFolded ? [`[${group.lines.length}]`] : group.lines));

test("PRJ-20 a tool that raised shows its exception and the innermost frame of the server's own code", () => {
  expect(raisedIn(logged)).toEqual({
    exception: raised,
    frame: { file: "tools/prices.py", line: 7, name: "parse" },
  });
  const inLibrary = frame(`${library}/httpx/_client.py`, 9, "get", "raise error");
  expect(raisedIn([begin, ...own, ...inLibrary, "httpx.ConnectError: no route"])).toEqual({
    exception: "httpx.ConnectError: no route",
    frame: { file: "tools/prices.py", line: 7, name: "parse" },
  });
});

test("PRJ-20 of chained exceptions the last one counts, and of a group the group", () => {
  const chained = [
    begin,
    ...own,
    "KeyError: 'missing'",
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    begin,
    ...ofFramework,
    ...frame("/app/src/server.py", 29, "chained", "raise"),
    "RuntimeError: no",
  ];
  expect(raisedIn(chained)).toEqual({
    exception: "RuntimeError: no",
    frame: { file: "server.py", line: 29, name: "chained" },
  });
  const group = ["  + Exception Group Traceback (most recent call last):", ...own.map((line) => `  | ${line}`)];
  expect(raisedIn([...group, "  | ExceptionGroup: two (2 sub-exceptions)"])).toEqual({
    exception: "ExceptionGroup: two (2 sub-exceptions)",
    frame: { file: "tools/prices.py", line: 7, name: "parse" },
  });
});

test("PRJ-20 a traceback in a box, as FastMCP 2 prints it, is read alike, and its frames of frameworks are folded", () => {
  const boxed = (text: string) => `                    │ ${text.padEnd(60)} │ `;
  const framework = (line: number) => [
    boxed(`${library.slice(0, 30)}/fastmcp/tool.py:${line} in run`),
    boxed(""),
    boxed(`❱ ${line} │   return await self.fn(**arguments)`),
  ];
  const lines = [
    "[11/27/26 10:49:38] Error calling tool 'price'",
    `                    ╭${"─".repeat(18)} Traceback (most recent call last) ${"─".repeat(9)}╮ `,
    ...framework(160),
    ...framework(381),
    boxed("/app/src/tools/prices.py:5 in price_of"),
    boxed(""),
    boxed("❱  5 │   return prices[city]"),
    `                    ╰${"─".repeat(62)}╯ `,
    "                    KeyError: 'nowhere'",
    "after",
  ];
  expect(raisedIn(lines)).toEqual({
    exception: "KeyError: 'nowhere'",
    frame: { file: "tools/prices.py", line: 5, name: "price_of" },
  });
  expect(shown(lines)).toEqual([...lines.slice(0, 2), "[6]", ...lines.slice(8)]);
  expect(foldedTitle(lines.slice(2, 8))).toBe("2 frames of frameworks");
  expect(withoutBoxes(lines).filter((line) => line !== null)).toEqual([
    lines[0],
    begin,
    `${library.slice(0, 30)}/fastmcp/tool.py:160 in run`,
    "❱ 160 │   return await self.fn(**arguments)",
    `${library.slice(0, 30)}/fastmcp/tool.py:381 in run`,
    "❱ 381 │   return await self.fn(**arguments)",
    "/app/src/tools/prices.py:5 in price_of",
    "❱  5 │   return prices[city]",
    "KeyError: 'nowhere'",
    "after",
  ]);
  // Boxes of anything else, and what has no end, stay as they are.
  expect(withoutBoxes(["│ FastMCP │", ...logged])).toEqual(["│ FastMCP │", ...logged]);
});

test("PRJ-20 what is no whole traceback tells nothing", () => {
  expect(raisedIn(["ValueError: no", '  File "/app/src/server.py", line 1, in f'])).toBeNull();
  expect(raisedIn([begin, ...ofFramework])).toBeNull();
  expect(raisedIn([begin, ...ofFramework, "OSError: no"])).toEqual({ exception: "OSError: no", frame: null });
  const vendored = frame("/app/src/.venv/lib/site-packages/x.py", 1, "f", "x");
  expect(raisedIn([begin, ...vendored, "OSError: no"])?.frame).toBeNull();
});

test("PRJ-20 RUN-5 frames of frameworks are folded, the server's own and single ones are not", () => {
  expect(shown(logged)).toEqual([logged[0], begin, "[6]", ...own, raised, "after"]);
  expect(shown([begin, ...ofFramework.slice(0, 3), ...own, raised])).toEqual([
    begin,
    ...ofFramework.slice(0, 3),
    ...own,
    raised,
  ]);
  expect(foldedTitle(ofFramework)).toBe("2 frames of frameworks");
});

test("PRJ-20 RUN-5 of a traceback without the server's own frames, the innermost stays", () => {
  const last = frame(`${library}/published/server.py`, 3, "tool", "raise OSError");
  expect(shown([begin, ...ofFramework, ...last, "OSError: no"])).toEqual([begin, "[6]", ...last, "OSError: no"]);
});

test("RUN-5 lines that look like frames outside a traceback stay, and so does what has no end yet", () => {
  expect(shown(ofFramework)).toEqual(ofFramework);
  const folder = new FrameFolder<string>((line) => line);
  const before = [begin, ...ofFramework].flatMap((line) => folder.push(line));
  expect(before).toEqual([{ lines: [begin], isFolded: false }]);
  expect(folder.end()).toEqual([{ lines: ofFramework, isFolded: true }]);
});
