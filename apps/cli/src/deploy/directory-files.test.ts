import { execFile } from "node:child_process";
import { access, chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { directoryFiles } from "./directory-files.ts";
import { pushDirectory } from "./push-directory.ts";

const run = promisify(execFile);
let root: string;
beforeEach(async () => {
  root = await shortDirectory();
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(directory: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  return directory;
}
const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
const git = async (directory: string, ...args: string[]) =>
  (await run("git", ["-C", directory, ...identity, ...args])).stdout.trim();

test("SRC-4 OPS-4 a directory without a repository: its .gitignore files count, and files that no build needs are named", async () => {
  const directory = await write(`${root}/work`, {
    ".gitignore": "dist/\n*.log\n!.env\n!node_modules/\n",
    "src/.gitignore": "!kept.log\n",
    "server.py": "1",
    "a b\n.py": "1",
    "src/kept.log": "1",
    "src/other.log": "1",
    "dist/x": "1",
    "run.sh": "1",
    ".env": "SECRET=1",
    ".env.example": "SECRET=",
    "web/.env.local": "S=1",
    ".venv/bin/python": "1",
    "node_modules/x/y.js": "1",
    "src/__pycache__/a.pyc": "1",
    "src/deep/b.pyc": "1",
    venv: "a file",
  });
  await chmod(`${directory}/run.sh`, 0o755);
  await symlink("server.py", `${directory}/link`);
  await symlink("../../etc/passwd", `${directory}/src/out`);
  await symlink("/etc", `${directory}/abs`);
  const { paths, leftOut } = await directoryFiles(directory);
  expect(paths).toEqual([
    ".env.example",
    ".gitignore",
    "a b\n.py",
    "link",
    "run.sh",
    "server.py",
    "src/.gitignore",
    "src/kept.log",
    "venv",
  ]);
  expect(leftOut.toSorted()).toEqual(
    [
      ".env",
      ".env.local",
      ".venv/",
      "__pycache__/",
      "abs → /etc",
      "b.pyc",
      "dist/",
      "node_modules/",
      "src/other.log",
      "src/out → ../../etc/passwd",
    ].toSorted(),
  );

  const bare = `${root}/bare.git`;
  await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", bare]);
  const remote = { url: `file://${bare}`, password: "", branch: "main", overwrite: false };
  const pushed = await pushDirectory(directory, remote);
  expect([pushed.files, pushed.leftOut]).toEqual([paths, leftOut]);
  const tree = (await git(bare, "ls-tree", "-r", "-z", "main")).split("\0").filter((line) => line !== "");
  expect(tree.map((line) => line.slice(line.indexOf("\t") + 1))).toEqual(paths);
  const modeOf = (path: string) => tree.find((line) => line.endsWith(`\t${path}`))?.split(" ", 1)[0];
  expect(["run.sh", "link", "server.py"].map(modeOf)).toEqual(["100755", "120000", "100644"]);
  expect((await pushDirectory(directory, remote)).changed).toBe(false);
  await chmod(`${directory}/run.sh`, 0o644);
  expect((await pushDirectory(directory, remote)).changed).toBe(true);
});

test("SRC-4 a directory of a repository: parent rules, its exclude file and tracked files count as in git", async () => {
  const repository = await write(`${root}/repository`, {
    ".gitignore": "*.tmp\n/server/data/\n",
    "server/.gitignore": "local.cfg\n",
    "server/server.py": "1",
    "server/a.tmp": "1",
    "server/data/big.bin": "1",
    "server/local.cfg": "1",
    "server/forced.tmp": "1",
    "server/gone.py": "1",
    "server/mine.txt": "1",
    "elsewhere.py": "1",
    "server/new.py": "1",
  });
  await git(repository, "init", "--quiet");
  await git(repository, "add", "--all");
  await git(repository, "add", "--force", "server/forced.tmp");
  await git(repository, "rm", "--quiet", "--cached", "server/new.py");
  await git(repository, "commit", "--quiet", "--message", "First");
  await rm(`${repository}/server/gone.py`);
  await writeFile(`${repository}/.git/info/exclude`, "mine.txt\n");
  await git(repository, "rm", "--quiet", "--cached", "server/mine.txt");
  const { paths, leftOut } = await directoryFiles(`${repository}/server`);
  expect(paths).toEqual([".gitignore", "forced.tmp", "new.py", "server.py"]);
  expect(leftOut.toSorted()).toEqual(["a.tmp", "data/", "local.cfg", "mine.txt"]);
  // A repository that ignores the directory itself, such as a home directory's, doesn't count.
  await writeFile(`${repository}/.gitignore`, "*\n");
  await git(repository, "rm", "--quiet", "--cached", "-r", "server");
  expect((await directoryFiles(`${repository}/server`)).paths).toEqual([
    ".gitignore",
    "a.tmp",
    "data/big.bin",
    "forced.tmp",
    "mine.txt",
    "new.py",
    "server.py",
  ]);
});

test.runIf(isThorough)(
  "SRC-4 repositories within the directory come along with their files and by their own rules, without their history",
  async () => {
    const directory = await write(`${root}/work`, {
      "server.py": "1",
      "lib/a.py": "1",
      "lib/x.log": "1",
      "lib/.gitignore": "*.log\n",
    });
    await git(`${directory}/lib`, "init", "--quiet");
    await git(`${directory}/lib`, "add", "a.py");
    expect((await directoryFiles(directory)).paths).toEqual(["lib/.gitignore", "lib/a.py", "server.py"]);
    await git(`${directory}/lib`, "commit", "--quiet", "--message", "First");
    await git(directory, "init", "--quiet");
    await git(directory, "add", "server.py", "lib");
    const { paths, leftOut } = await directoryFiles(directory);
    expect([paths, leftOut]).toEqual([["lib/.gitignore", "lib/a.py", "server.py"], ["lib/x.log"]]);
    const bare = `${root}/bare.git`;
    await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", bare]);
    await pushDirectory(directory, { url: `file://${bare}`, password: "", branch: "main", overwrite: false });
    expect(await git(bare, "ls-tree", "-r", "--name-only", "main")).toBe(paths.join("\n"));
  },
);

test.runIf(isThorough)(
  "SRC-4 OPS-4 settings in a stranger's directory, or in a repository within it, run no program",
  async () => {
    const directory = await write(`${root}/work`, { "server.py": "1", "inner/a.py": "1" });
    for (const each of [directory, `${directory}/inner`]) {
      await git(each, "init", "--quiet");
      await git(each, "add", each === directory ? "server.py" : "a.py");
      await git(each, "config", "core.fsmonitor", `touch ${root}/ran; false`);
      await git(each, "config", "core.untrackedCache", "true");
    }
    expect((await directoryFiles(directory)).paths).toEqual(["inner/a.py", "server.py"]);
    await expect(access(`${root}/ran`)).rejects.toThrow("ENOENT");
  },
);
