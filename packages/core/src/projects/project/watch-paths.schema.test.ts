import { expect, test } from "vitest";
import { isWatched, rootDirectorySchema, watchPathsProblem, watchPathsSchema } from "./watch-paths.schema.ts";

test.each([
  [["server"], ["server/main.py", "server"], ["servers/main.py", "docs/server/a"]],
  [["./server/"], ["server/deep/er/main.py"], ["main.py"]],
  [["*.py"], ["main.py"], ["server/main.py", "main.pyc"]],
  [["**/*.py"], ["main.py", "a/b/c.py"], ["a/b/c.txt"]],
  [["src/**/test_?.py"], ["src/test_1.py", "src/a/b/test_2.py"], ["src/test_10.py", "test_1.py"]],
  [["packages/*/src"], ["packages/one/src/a.py"], ["packages/one/a.py", "packages/one/two/src/a"]],
  [
    ["!docs", "!**/*.md"],
    ["main.py", "docs2/a"],
    ["docs/a.py", "README.md", "a/b.md"],
  ],
  [["server", "!server/README.md"], ["server/a.py"], ["server/README.md", "a.py"]],
  [["Server"], ["Server/a"], ["server/a"]],
] as const)("BLD-15 %j watches some paths and not others", (patterns, watched, others) => {
  for (const path of watched) expect([path, isWatched(patterns, path)]).toEqual([path, true]);
  for (const path of others) expect([path, isWatched(patterns, path)]).toEqual([path, false]);
});

test("BLD-15 a pattern made to take long takes no longer", () => {
  const begun = performance.now();
  expect(isWatched([`${"*a".repeat(60)}b`], "a".repeat(4000))).toBe(false);
  expect(isWatched([`${"**/".repeat(40)}x`], "a/".repeat(1000))).toBe(false);
  // Exponential matching would take longer than anybody waits.
  expect(performance.now() - begun).toBeLessThan(20_000);
});

test("BLD-15 invalid watch paths and root directories are refused with what is wrong", () => {
  expect(watchPathsSchema.parse([" server/ ", "", "!docs/**"])).toEqual(["server/", "!docs/**"]);
  for (const [pattern, problem] of [
    ["/etc", "/etc must be a relative path from the repo root"],
    ["a/../b", "a/../b cannot reference parent directories"],
    ["a\nb", "a\nb contains invalid characters"],
    ["!", "! names no path"],
    ["x".repeat(129), "xxxxxxxxxxxxxxxxxxxx… is too long (max 128 characters)"],
  ] as const)
    expect(watchPathsProblem([pattern])).toBe(problem);
  expect(watchPathsProblem(Array.from({ length: 51 }, () => "a"))).toBe("At most 50 watch paths");
  for (const root of [undefined, null, "", ".", "./", " "]) expect(rootDirectorySchema.parse(root)).toBeNull();
  expect(rootDirectorySchema.parse("./servers/one/")).toBe("servers/one");
  for (const [wrong, problem] of [
    ["/srv", "Root directory must be a relative path from the repo root"],
    ["/", "Root directory must be a relative path from the repo root"],
    ["a/../..", "Root directory cannot reference parent directories"],
    ["a;b", "Root directory contains invalid characters"],
    ["x".repeat(129), "Root directory is too long (max 128 characters)"],
  ] as const)
    expect(rootDirectorySchema.safeParse(wrong).error?.issues[0]?.message).toBe(problem);
});
