import { expect, test } from "vitest";
import { directoriesOf, movedBy, treeRows } from "./tree-rows.ts";

const paths = [".python-version", "README.md", "lib/a.py", "lib/deep/b.py", "server.py", "Zebra/z.py"];

test("CAP-5 the tree has directories first, and the content of open ones", () => {
  const lines = (open: readonly string[]) =>
    treeRows(paths, new Set(open)).map(
      ({ name, level, isDirectory, isOpen }) => `${level} ${name}${isDirectory ? (isOpen ? " -" : " +") : ""}`,
    );
  expect(lines([])).toEqual(["1 lib +", "1 Zebra +", "1 .python-version", "1 README.md", "1 server.py"]);
  expect(lines(["lib", "lib/deep"]).slice(0, 5)).toEqual(["1 lib -", "2 deep -", "3 b.py", "2 a.py", "1 Zebra +"]);
  // An open directory within a closed one.
  expect(lines(["lib/deep"])).toEqual(lines([]));
  expect(directoriesOf("lib/deep/b.py")).toEqual(["lib", "lib/deep"]);
  expect(directoriesOf("server.py")).toEqual([]);
});

test("CAP-5 UI-4 keys move in the tree, and open and close directories", () => {
  const rows = treeRows(paths, new Set(["lib"]));
  for (const [key, from, move] of [
    ["ArrowDown", "lib", { focus: "lib/deep" }],
    ["ArrowUp", "lib", null],
    ["ArrowRight", "lib", { focus: "lib/deep" }],
    ["ArrowRight", "Zebra", { toggle: "Zebra" }],
    ["ArrowRight", "server.py", null],
    ["ArrowLeft", "lib", { toggle: "lib" }],
    ["ArrowLeft", "lib/a.py", { focus: "lib" }],
    ["ArrowLeft", "server.py", null],
    ["Home", "server.py", { focus: "lib" }],
    ["End", "lib", { focus: "server.py" }],
    ["a", "lib", null],
    ["ArrowDown", "gone", null],
  ] as const)
    expect([key, from, movedBy(key, rows, from)]).toEqual([key, from, move]);
});
