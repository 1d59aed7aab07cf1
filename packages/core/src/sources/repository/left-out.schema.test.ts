import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { gitignoreRule, leadsOut, leftOutLine, leftOutName, looksSecret, secretsLine } from "./left-out.schema.ts";

test("SRC-4 history, environments, caches and secrets are left out even if .gitignore allows them; examples are not", () => {
  const kept = ["server.py", ".env.example", ".env.prod.sample", ".gitignore", "environ/x.py", "venv", "src/env.py"];
  expect(kept.map(leftOutName)).toEqual(kept.map(() => null));
  const out = {
    ".git/HEAD": ".git/",
    "a/.venv/b": ".venv/",
    "a/node_modules/b/c": "node_modules/",
    "src/__pycache__/a.pyc": "__pycache__/",
    "a.pyc": "a.pyc",
    ".env": ".env",
    "a/.env.local": ".env.local",
    "keys/id_ed25519": "id_ed25519",
    ".DS_Store": ".DS_Store",
  };
  expect(Object.keys(out).map(leftOutName)).toEqual(Object.values(out));
  expect([".env", ".env.production", ".netrc", ".envoy", "env", ".env.dist"].map(looksSecret)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("SRC-4 what is left out is named in one line, with what to do about secrets", () => {
  expect([leftOutLine([]), secretsLine(["dist/"])]).toEqual([null, null]);
  expect(leftOutLine(["dist/", ".env", "dist/"])).toBe("Left out: .env, dist/.");
  expect(leftOutLine(Array.from({ length: 11 }, (_, at) => `f${at}`))).toMatch(/^Left out: f0, .* and 3 more\.$/);
  expect(secretsLine([".env", "a/.env.local"])).toBe(
    ".env and a/.env.local have secrets: add them as environment variables, which are stored encrypted.",
  );
});

test("SRC-4 links within the folder stay, others lead out", () => {
  const within = [
    ["a", "b"],
    ["a/b", "../c"],
    ["a/b", "./c/../d"],
    ["a/b/c", "../../d"],
  ] as const;
  const out = [
    ["a", "../b"],
    ["a/b", "../../c"],
    ["a/b", "../../root/a/b"],
    ["a", "/etc/passwd"],
    ["a", ""],
    ["a", "c:\\x"],
  ] as const;
  expect([...within, ...out].map(([path, target]) => leadsOut(path, target))).toEqual([
    ...within.map(() => false),
    ...out.map(() => true),
  ]);
});

/** Rules with every kind of pattern, and paths for and against each. */
const rules = {
  ".gitignore":
    "# comment\n*.log\n!keep.log\n/dist\nbuild/\ndocs/*.txt\n**/tmp/**\n\\#odd\nname with space\nCase\n/a/*\n!/a/keep\n",
  "globs/.gitignore":
    "\ufeff*.py[cod]\r\n[!a-y]1\n[]-]x\n[[:digit:]]\\*\nq?q\nend\\ \ntrim  \n\\!no\nx**y\nin/**/deep\nall/**\n**/any/z\n[open\nback\\\n*a*b*c\n[[:none:]]\n/top/\n[\\]]\n",
  "src/.gitignore": "!debug.log\n/only-here\ngenerated/\n",
  "src/deep/.gitignore": "*\n!.gitignore\n!yes.py\n",
};
const inGlobs = (path: string) => `globs/${path}`;
const paths = [
  "a.log",
  "keep.log",
  "src/debug.log",
  "src/deep/debug.log",
  "dist/x",
  "src/dist/x",
  "build/x/y",
  "src/build/x",
  "build",
  "docs/a.txt",
  "docs/b/a.txt",
  "x/tmp/y",
  "tmp/z",
  "#odd",
  "name with space",
  "case",
  "Case",
  "a/keep/x",
  "a/drop/x",
  "a/b",
  "src/only-here",
  "only-here",
  "src/generated/a/b",
  "generated/a",
  "src/deep/yes.py",
  "src/deep/no.py",
  "src/deep/er/yes.py",
  "server.py",
  "src/a.py",
  ...[
    "a.pyc",
    "a.pyx",
    "z1",
    "b1",
    "]x",
    "-x",
    "ax",
    "4*",
    "4x",
    "qaq",
    "qq",
    "end ",
    "end",
    "trim",
    "trim ",
    "!no",
  ].map(inGlobs),
  ...["xy", "xaby", "in/deep", "in/a/b/deep", "in/deeper", "all/a", "all/b/c", "b/all/c", "any/z", "b/any/z", "z"].map(
    inGlobs,
  ),
  ...["[open", "back", "back\\", "xaxbxc", "xaxcxb", "abcc", "n", "top/x", "b/top", "]", "top2/top/x"].map(inGlobs),
];

test("SRC-4 .gitignore files are read as git reads them", () => {
  const directory = mkdtempSync(join(tmpdir(), "towpath-ignored-"));
  try {
    const isFile = (path: string) => !paths.some((other) => other.startsWith(`${path}/`));
    for (const [path, text] of [
      ...Object.entries(rules),
      ...paths.filter(isFile).map((path) => [path, "x"] as const),
    ]) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
    const git = (...args: string[]) => execFileSync("git", args, { cwd: directory, encoding: "utf8" });
    git("init", "--quiet");
    const byGit = git("ls-files", "-z", "--others", "--exclude-per-directory=.gitignore").split("\0").filter(Boolean);
    const why = gitignoreRule(new Map(Object.entries(rules)));
    const all = [...Object.keys(rules), ...paths.filter(isFile)];
    expect(all.filter((path) => why(path) === null).toSorted()).toEqual(byGit.toSorted());
    expect([why("dist/x"), why("a.log"), why("src/generated/a/b")]).toEqual(["dist/", "a.log", "src/generated/"]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("SRC-4 no .gitignore keeps the instance busy: patterns don't backtrack, and too many of them are refused", () => {
  const names = (count: number, last: string) => `${"a/".repeat(count)}${last}`;
  const hostile = {
    [`${"a/**/".repeat(60)}b`]: names(1500, "c"),
    [`x${"*a".repeat(100)}b`]: `xb${"a".repeat(250)}c`,
    [`x${"*[ab]".repeat(100)}/c`]: names(1500, `x${"a".repeat(200)}`),
  };
  const began = process.cpuUsage();
  for (const [pattern, path] of Object.entries(hostile))
    expect(gitignoreRule(new Map([[".gitignore", pattern]]))(path)).toBeNull();
  const many = gitignoreRule(new Map([[".gitignore", "**/a/b/\n**/a/c\n".repeat(10_000)]]));
  expect(() => Array.from({ length: 50_000 }, (_, at) => many(names(100, String(at))))).toThrow(/too many rules/);
  const { user } = process.cpuUsage(began);
  expect(user).toBeLessThan(25_000_000);
});
