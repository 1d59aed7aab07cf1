import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testsOfChange } from "./changed.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "towpath-changed-"));
  git("init", "-q", "-b", "main");
  for (const path of [
    "packages/a/src/one.ts",
    "packages/a/src/one.test.ts",
    "packages/a/src/page.browser.test.ts",
    "packages/a/src/deep/two.test.ts",
    "packages/b/src/three.test.ts",
    "tests/e2e/four.test.ts",
    "python/towpath_runner/serve.py",
  ])
    write(path, "first");
  commit();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("the tests of a change are those in its folders, and changed ones", async () => {
  write("packages/a/src/one.ts", "second");
  const change = await testsOfChange(root);
  expect(change).toEqual({
    files: ["packages/a/src/one.ts"],
    packages: ["packages/a/src/one.test.ts"],
    instances: [],
    harness: false,
  });
});

test("files committed since a commit and untracked ones count, deleted ones don't", async () => {
  write("tests/e2e/four.test.ts", "second");
  write("packages/a/src/page.browser.test.ts", "second");
  rmSync(join(root, "packages/b"), { recursive: true });
  commit();
  write("python/towpath_runner/new.py", "first");
  expect(await testsOfChange(root, "HEAD~1")).toEqual({
    files: ["packages/a/src/page.browser.test.ts", "python/towpath_runner/new.py", "tests/e2e/four.test.ts"],
    packages: ["packages/a/src/one.test.ts", "packages/a/src/page.browser.test.ts"],
    instances: ["tests/e2e/four.test.ts"],
    harness: true,
  });
});

test("an unknown commit and a checkout without changes are refused", async () => {
  await expect(testsOfChange(root, "nowhere")).rejects.toThrow("git knows no commit nowhere.");
  await expect(testsOfChange(root)).rejects.toThrow("Nothing differs from HEAD. Name a commit");
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function git(...args: string[]): void {
  execFileSync("git", ["-C", root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args]);
}

function commit(): void {
  git("add", "-A");
  git("commit", "-qm", "Commit");
}
