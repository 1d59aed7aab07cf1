import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { TowpathError } from "@towpath/core/errors";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { git, makeTar, makeZip, streamOf, type TestEntry } from "../testing/index.ts";
import { openRepositories, type Repositories } from "./repositories.ts";

const execute = promisify(execFile);
let directory: string;
let store: Repositories;
let id: string;
const archiveLimits = { packedBytes: 1_000_000, bytes: 3_000_000, files: 20 };
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-archives-"));
  store = openRepositories({ directory: join(directory, "stored"), archiveLimits });
  id = randomUUID();
  await store.create(id, "main");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const bare = () => join(directory, "stored", `${id}.git`);
const commit = (bytes: Uint8Array, more: { branch?: string; expectedHead?: string | null; message?: string } = {}) =>
  store.commitFiles(id, {
    branch: "main",
    message: "Upload files",
    author: { name: "Ada <Lock>", email: "ada@example.test" },
    ...more,
    archive: streamOf(bytes),
  });
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "accepted",
    (error: unknown) => (error instanceof TowpathError ? `${error.code}: ${error.message}` : String(error)),
  );
const tree = async (sha: string) => (await git(bare(), "ls-tree", "-r", sha)).replaceAll(/ blob [0-9a-f]+\t/g, " ");
const at = (sha: string) => ({ branch: "main", sha });

test("SRC-3 an archive's files become a commit on the branch: a zip, a tar and a gzipped tar alike", async () => {
  const entries: TestEntry[] = [
    { name: "echo-main/", type: "directory", mode: 0o755 },
    { name: "echo-main/server.py", content: 'print("one")\n' },
    { name: "echo-main/bin/run", content: "#!/bin/sh\n", mode: 0o755 },
    { name: "echo-main/latest", type: "symlink", target: "bin/run" },
    { name: 'echo-main/ä "b".txt', content: "" },
    { name: "echo-main/.git/config", content: "[core]\n" },
    { name: "__MACOSX/echo-main/._server.py", content: "x" },
  ];
  const made = await commit(makeZip(entries));
  expect(made).toMatchObject({ changed: true, commit: { author: "Ada  Lock", message: "Upload files" } });
  expect((await tree(made.commit.sha)).split("\n")).toEqual([
    "100755 bin/run",
    "120000 latest",
    "100644 server.py",
    String.raw`100644 "\303\244 \"b\".txt"`,
  ]);
  for (const bytes of [
    await makeTar(entries),
    await makeTar(entries, { gzip: false }),
    makeZip(entries, { stored: true }),
  ])
    expect(await commit(bytes)).toEqual({ commit: made.commit, changed: false, leftOut: [] });

  const next = await commit(await makeTar([{ name: "server.py", content: "two" }]), { message: "Two" });
  expect(await tree(next.commit.sha)).toBe("100644 server.py");
  expect(await git(bare(), "rev-parse", `${next.commit.sha}^`)).toBe(made.commit.sha);
  const reader = store.open(id);
  expect(await reader.refs()).toMatchObject({ url: null, defaultBranch: "main" });
  expect(await reader.changedPaths(made.commit.sha, at(next.commit.sha))).toContain("server.py");
  expect(await git(bare(), "for-each-ref", "refs/towpath")).toBe("");
  await git(bare(), "fsck", "--strict", "--no-dangling");
});

test.runIf(isThorough)("SRC-3 archives of common programs are read", async () => {
  const from = join(directory, "packed");
  const files = {
    "server.py": "x".repeat(100_000),
    [`${"long-directory/".repeat(9)}name.py`]: "y",
    "data.bin": randomBytes(5000),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(from, path)), { recursive: true });
    await writeFile(join(from, path), content);
  }
  await chmod(join(from, "server.py"), 0o755);
  await symlink("server.py", join(from, "main.py"));
  await execute("tar", ["-czf", join(directory, "a.tar.gz"), "-C", from, "."]);
  await execute("tar", ["--format=pax", "-cf", join(directory, "a.tar"), "-C", directory, "packed"]);
  const python = "import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[2])";
  await execute("python3", ["-c", python, join(directory, "a"), from]);
  const first = await commit(await readFile(join(directory, "a.tar.gz")));
  expect((await git(bare(), "ls-tree", "-r", "--name-only", first.commit.sha)).split("\n")).toHaveLength(4);
  expect((await commit(await readFile(join(directory, "a.tar")))).changed).toBe(false);
  // Python's zips follow links and so have the file's content.
  const zipped = await commit(await readFile(join(directory, "a.zip")));
  expect(await git(bare(), "diff", "--name-only", first.commit.sha, zipped.commit.sha)).toBe("main.py");
  // As tools write that don't know the sizes beforehand (zip64).
  const large = `import zipfile; zipfile.ZIP64_LIMIT = zipfile.ZIP_FILECOUNT_LIMIT = 1; ${python}`;
  await execute("python3", ["-c", large, join(directory, "large"), from]);
  expect((await commit(await readFile(join(directory, "large.zip")))).changed).toBe(false);
});

test("SRC-3 a commit is made only on the head that was seen", async () => {
  const files = (content: string) => makeZip([{ name: "server.py", content }]);
  const first = await commit(files("1"), { expectedHead: null });
  expect(await refusal(commit(files("2"), { expectedHead: null }))).toMatch(/^conflict: .* has newer commits.*Nothing/);
  const second = await commit(files("2"), { expectedHead: first.commit.sha });
  expect(await refusal(commit(files("3"), { expectedHead: first.commit.sha }))).toMatch(/^conflict/);
  expect(await refusal(commit(files("3"), { branch: "gone", expectedHead: first.commit.sha }))).toMatch(/was deleted/);
  expect(await refusal(commit(files("3"), { branch: "main/part" }))).toMatch(/^conflict: .*a part of its name/);
  expect((await store.open(id).refs()).branches).toEqual(new Map([["main", second.commit.sha]]));
  const racing = await Promise.all(["4", "5", "6"].map((content) => refusal(commit(files(content)))));
  expect(racing.filter((each) => each === "accepted").length).toBeGreaterThanOrEqual(1);
  expect(racing.filter((each) => !/^accepted$|^conflict/.test(each))).toEqual([]);
});

const file = (name: string): TestEntry => ({ name, content: "x" });
const link = (name: string, target: string): TestEntry => ({ name, type: "symlink", target });
const hostile: readonly (readonly [string, readonly TestEntry[], RegExp])[] = [
  ["a path upwards", [file("a/../../x")], /leads out/],
  ["an absolute path", [file("/etc/passwd")], /absolute/],
  ["a drive", [file("C:/x")], /absolute/],
  ["a backslash", [file("a\\..\\x")], /backslash/],
  ["a line break", [file("a\nM 100644 inline x")], /characters/],
  ["git's directory for NTFS", [file(".git./hooks/x")], /git keeps/],
  ["git's directory with a stream", [file(".git::$INDEX/x")], /git keeps/],
  ["a link upwards", [link("a/b", "../../x")], /outside the archive/],
  ["an absolute link", [link("a", "/etc/passwd")], /outside the archive/],
  ["settings of git behind a link", [link(".gitmodules", "a")], /through a link/],
  ["a file that is a directory", [file("a"), file("a/b")], /file and a directory/],
  ["a long name", [file(`${"x".repeat(256)}`)], /too long/],
  ["nothing", [{ name: "a/", type: "directory" }], /no files/],
  ["many files", Array.from({ length: 21 }, (_, index) => file(`f${index}`)), /more than 20/],
];

test.for(hostile)("SRC-3 an archive is refused, and changes nothing, for %s", async ([, entries, reason]) => {
  for (const bytes of [makeZip(entries), await makeTar(entries)]) {
    expect(await refusal(commit(bytes))).toMatch(reason);
    expect(await refusal(commit(bytes))).toMatch(/^invalid_input/);
  }
  expect(await git(bare(), "for-each-ref")).toBe("");
});

test.runIf(isThorough)("SRC-3 a tar's hard links are copies, and devices are refused", async () => {
  const same = { name: "b/copy.py", type: "link", target: "b/one.py" } as const;
  const { commit: made } = await commit(await makeTar([file("b/one.py"), file("c"), same]));
  expect(await tree(made.sha)).toBe("100644 b/copy.py\n100644 b/one.py\n100644 c");
  expect(await refusal(commit(await makeTar([file("a"), { ...same, target: "/etc/passwd" }])))).toMatch(/absolute/);
  expect(await refusal(commit(await makeTar([file("a"), { ...same, target: "none" }])))).toMatch(
    /isn't in the archive/,
  );
  expect(await refusal(commit(await makeTar([{ name: "tty", type: "character-device" }])))).toMatch(/neither a file/);
});

test("SRC-3 files that are no archive, damaged, encrypted or too large get their own error", async () => {
  const entries = [{ name: "server.py", content: "x".repeat(100_000) }];
  const [zip, tar] = [
    makeZip(entries, { stored: true }),
    await makeTar([{ name: "a", content: randomBytes(100_000) }]),
  ];
  expect(await refusal(commit(Buffer.from("<html>")))).toMatch(/neither a zip nor a tar/);
  expect(await refusal(commit(Buffer.alloc(0)))).toMatch(/neither a zip nor a tar/);
  expect(await refusal(commit(zip.subarray(0, 50_000)))).toMatch(/incomplete or damaged/);
  expect(await refusal(commit(tar.subarray(0, 50_000)))).toMatch(/incomplete or damaged/);
  expect(await refusal(commit(makeZip(entries, { size: 5 })))).toMatch(/damaged/);
  expect(await refusal(commit(makeZip(entries, { size: 200_000 })))).toMatch(/damaged/);
  expect(await refusal(commit(makeZip(entries, { flags: 1 })))).toMatch(/encrypted/);
  const bomb = [{ name: "a", content: Buffer.alloc(4_000_000) }];
  expect(await refusal(commit(makeZip(bomb)))).toMatch(/larger than 3 MB/);
  expect(await refusal(commit(await makeTar(bomb)))).toMatch(/larger than 3 MB/);
  expect(await refusal(commit(makeZip([{ name: "a", content: randomBytes(1_100_000) }])))).toMatch(/archive is larger/);
  expect(await git(bare(), "for-each-ref")).toBe("");
});

test("SRC-4 ignored files, environments, caches and secrets of an archive are left out of the commit, and named", async () => {
  const entries: TestEntry[] = [
    { name: "echo-main/server.py", content: "1" },
    { name: "echo-main/dist/a.js", content: "1" },
    { name: "echo-main/src/kept.log", content: "1" },
    { name: "echo-main/a.log", content: "1" },
    { name: "echo-main/.venv/bin/python", type: "symlink", target: "/usr/bin/python3" },
    { name: "echo-main/.env", content: "SECRET=1" },
    { name: "echo-main/.env.example", content: "SECRET=" },
    { name: "echo-main/run.sh", content: "1", mode: 0o755 },
    // After the files that they ignore: archives may have any order.
    { name: "echo-main/.gitignore", content: "*.log\n/dist/\n" },
    { name: "echo-main/src/.gitignore", content: "!kept.log\n" },
  ];
  for (const bytes of [makeZip(entries), await makeTar(entries)]) {
    const made = await commit(bytes, { branch: `b-${bytes.length}` });
    expect((await tree(made.commit.sha)).split("\n")).toEqual([
      "100644 .env.example",
      "100644 .gitignore",
      "100755 run.sh",
      "100644 server.py",
      "100644 src/.gitignore",
      "100644 src/kept.log",
    ]);
    expect(made.leftOut.toSorted()).toEqual([".env", ".venv/", "a.log", "dist/"]);
    expect(await git(bare(), "log", "--all", "-p")).not.toContain("SECRET=1");
  }
  expect(await refusal(commit(makeZip([{ name: "a/.env", content: "1" }])))).toContain("The archive has no files");
});

test.runIf(isThorough)(
  "SRC-4 an archive's .gitignore files have a limit together, as each of their lines takes memory",
  async () => {
    const text = "a\n".repeat(95_000);
    const entries = Array.from({ length: 12 }, (_, at) => ({ name: `${at}/.gitignore`, content: text }));
    expect(await refusal(commit(makeZip(entries.slice(0, 10))))).toBe("accepted");
    expect(await refusal(commit(makeZip(entries)))).toMatch(/\.gitignore files have more than 2 MB together/);
  },
);
