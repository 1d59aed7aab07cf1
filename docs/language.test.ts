import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findAvoidedWords, problemsOfSubject } from "./language.ts";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);
const git = async (...args: string[]) => {
  const { stdout } = await run("git", ["-C", root, ...args], { maxBuffer: 1 << 26 });
  return stdout.trim().split("\n").filter(Boolean);
};
const isCheckout = await git("rev-parse", "HEAD").then(
  () => true,
  () => false,
);

/** Decisions are records, which aren't rewritten. */
const isChecked = (path: string) => !path.startsWith("docs/decisions/") && !/^docs\/language(\.test)?\.ts$/.test(path);

test("words are found in names and in prose, with their line and what to write", () => {
  expect(findAvoidedWords("const toldOf = 1;\n// What was heard.\nconst untold = 2; // besides ACME_TOLD")).toEqual([
    '1: "told": write shown, notified, informed, passed',
    '2: "heard": write received, learned',
    '3: "told": write shown, notified, informed, passed',
    '3: "besides": write also, as well',
  ]);
});

test("subjects of commits are imperative, short, and use the same words", () => {
  for (const subject of ["Add a page", "Bring back a page", "Pass a page", "Merge branch 'a'"])
    expect(problemsOfSubject(subject)).toEqual([]);
  for (const subject of ["Tests: a page", "Added a page", "Adding a page", "Adds a page", "add a page", "Add a page."])
    expect(problemsOfSubject(subject)).toHaveLength(1);
  expect(problemsOfSubject(`Add ${"a".repeat(80)} that is told`)).toHaveLength(2);
});

/** How many are left, by folder. Lower a number when you have replaced some; never raise one. */
const left: Readonly<Record<string, number>> = {
  "ARCHITECTURE.md": 2,
  "apps/cli": 25,
  "apps/gateway": 129,
  "apps/runner": 11,
  "apps/web": 154,
  "apps/worker": 23,
  docs: 18,
  "packages/auth": 42,
  "packages/builder": 17,
  "packages/chat": 15,
  "packages/core": 150,
  "packages/db": 27,
  "packages/egress": 3,
  "packages/git": 16,
  "packages/github": 3,
  "packages/limits": 1,
  "packages/logs": 42,
  "packages/mail": 5,
  "packages/mcp": 24,
  "packages/runner-api": 1,
  "packages/runtime": 41,
  "packages/secrets": 7,
  python: 30,
  tests: 59,
  "vitest.config.ts": 1,
};

const folderOf = (path: string) => (/^(?:apps|packages)\/[^/]+/.exec(path) ?? /^[^/]+/.exec(path))?.[0] ?? path;

test.runIf(isCheckout)("the words that the list avoids become fewer", async () => {
  const files = await git("ls-files", "*.ts", "*.tsx", "*.js", "*.cjs", "*.py", "*.sh", "*.css", "*.md", "towpath");
  const found: Record<string, number> = {};
  for (const path of files.filter(isChecked)) {
    const text = await readFile(join(root, path), "utf8").catch(() => "");
    const count = findAvoidedWords(text).length;
    if (count > 0) found[folderOf(path)] = (found[folderOf(path)] ?? 0) + count;
  }
  expect(files.length).toBeGreaterThan(1000);
  expect(found).toEqual(left);
});

/** The last commit before subjects were checked. */
const checkedSince = "8dc4b598";

test.runIf(isCheckout)("subjects of new commits are imperative and short", async () => {
  const subjects = await git("log", "--format=%s", `${checkedSince}..HEAD`).catch(() => []);
  expect(subjects.flatMap((subject) => problemsOfSubject(subject).map((problem) => `${subject}: ${problem}`))).toEqual(
    [],
  );
});
