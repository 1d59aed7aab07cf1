import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TowpathError } from "@towpath/core/errors";
import type { EditedRepository, FileChanges, GitFiles } from "@towpath/core/ports";
import { createAddressPolicy } from "@towpath/egress";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isThorough, rounds } from "../../../../tests/thorough.ts";
import { openRepositories, type Repositories } from "../repositories/repositories.ts";
import { type GitServer, git, makeRepository, serveGitRepositories } from "../testing/index.ts";
import { createGitFiles } from "./git-files.ts";

let directory: string;
let server: GitServer;
let repositories: Repositories;
let files: GitFiles;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-edit-"));
  await mkdir(join(directory, "remote"));
  server = await serveGitRepositories(join(directory, "remote"), { takesPushes: true });
  repositories = openRepositories({ directory: join(directory, "stored") });
  const policy = createAddressPolicy(["127.0.0.1/32"]);
  files = createGitFiles({ policy, directory: join(directory, "scratch"), repositories });
});
afterAll(async () => {
  await server?.close();
  await rm(directory, { recursive: true, force: true });
});

const content = {
  "server.py": "import os\n\nmcp = FastMCP('Echo')\n",
  "tools/add.py": "def add(): ...\nMCP = 1\n",
  "run.sh": "#!/bin/sh\n",
  "logo.bin": new Uint8Array([0, 255, 1]),
  'a "b" ä.txt': "one\n",
};

type Place = { readonly of: EditedRepository; readonly bare: string };

/** A repository with the content on main: of this instance, or behind a URL. */
const places = {
  "of this instance": async (): Promise<Place> => {
    const id = randomUUID();
    await repositories.create(id, "main");
    return { of: { repositoryId: id }, bare: join(directory, "stored", `${id}.git`) };
  },
  "behind a URL": async (): Promise<Place> => {
    const name = `${randomUUID()}.git`;
    const bare = join(directory, "remote", name);
    await git(directory, "init", "--quiet", "--bare", "--initial-branch=main", bare);
    return { of: { key: "a server", remote: { url: `${server.url}/${name}`, credential: null } }, bare };
  },
};

/** Both go the same ways, but for how the commit arrives. */
const tried = Object.entries(places).slice(0, rounds(1, 2));

describe.each(tried)("a repository %s", (_name, make) => {
  let place: Place;
  let head: string;
  beforeEach(async () => {
    place = await make();
    const work = join(directory, randomUUID());
    await makeRepository(work, content);
    await symlink("server.py", join(work, "latest.py"));
    await git(work, "add", "latest.py");
    await git(work, "update-index", "--chmod=+x", "run.sh");
    await git(work, "commit", "--quiet", "--amend", "--no-edit");
    head = await git(work, "rev-parse", "HEAD");
    await git(work, "push", "--quiet", place.bare, "main");
  });

  const change = (changes: FileChanges["changes"], more: Partial<FileChanges> = {}) =>
    files.change(place.of, {
      parent: { branch: "main", sha: head },
      branch: "main",
      author: { name: "Grace", email: "grace@example.test" },
      message: "Change it",
      changes,
      ...more,
    });
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => "accepted",
      (error: unknown) => (error instanceof TowpathError ? `${error.code}: ${error.message}` : String(error)),
    );
  const inBare = (...args: readonly string[]) => git(place.bare, ...args);

  test("CAP-5 files are listed, read as bytes and searched", async () => {
    const opened = await files.open(place.of, { branch: "main", sha: head });
    expect((await opened.paths()).toSorted()).toEqual(Object.keys(content).toSorted());
    expect(Buffer.from((await opened.read("logo.bin")) ?? [])).toEqual(Buffer.from([0, 255, 1]));
    expect(await opened.read("tools")).toBeNull();
    expect(await opened.search("mcp", 10)).toEqual([
      { path: "server.py", line: 3, text: "mcp = FastMCP('Echo')" },
      { path: "tools/add.py", line: 2, text: "MCP = 1" },
    ]);
    expect(await opened.search("mcp", 1)).toHaveLength(1);
    expect(await opened.search("-v", 10)).toEqual([]);
    await opened.close();
  });

  test("CAP-5 a commit changes, adds and deletes files in a person's name, and keeps the others and their modes", async () => {
    const made = await change([
      { path: "run.sh", content: "#!/bin/bash\n" },
      { path: 'a "b" ä.txt', content: "two\n" },
      { path: "tools/new/sub.py", content: "" },
      { path: "tools/add.py", content: null },
    ]);
    expect(made).toMatchObject({ author: "Grace", message: "Change it" });
    expect(await inBare("rev-parse", "main", "main^")).toBe(`${made.sha}\n${head}`);
    expect((await inBare("ls-tree", "-r", "--format=%(objectmode) %(path)", "-z", "main")).split("\0")).toEqual(
      expect.arrayContaining(["100755 run.sh", "100644 tools/new/sub.py", "100644 logo.bin"]),
    );
    expect(await inBare("ls-tree", "-r", "--name-only", "main")).not.toContain("tools/add.py");
    expect(await inBare("show", "main:run.sh")).toBe("#!/bin/bash");
    expect(await inBare("for-each-ref", "refs/towpath")).toBe("");
    await inBare("fsck", "--strict", "--no-dangling");
  });

  test("CAP-5 a commit on a new branch leaves the other one; an existing name is refused", async () => {
    const edit = [{ path: "server.py", content: "new\n" }];
    const made = await change(edit, { branch: "fix/one" });
    expect(await inBare("rev-parse", "main", "fix/one")).toBe(`${head}\n${made.sha}`);
    // The same one within a second would be the same commit, which is there already.
    const other = [{ path: "server.py", content: "other\n" }];
    expect(await refusal(change(other, { branch: "fix/one" }))).toMatch(/^conflict: .*fix\/one/);
    expect(await inBare("rev-parse", "fix/one")).toBe(made.sha);
  });

  test("CAP-5 a branch that has moved meanwhile is not overwritten, forwards or back", async () => {
    const first = await change([{ path: "server.py", content: "first\n" }]);
    const late = [{ path: "server.py", content: "late\n" }];
    expect(await refusal(change(late))).toMatch(/^conflict: The branch main has newer commits/);
    expect(await inBare("rev-parse", "main")).toBe(first.sha);
    // Reset to the commit before: a push of a later one would go through.
    await inBare("update-ref", "refs/heads/main", head);
    expect(await refusal(change(late, { parent: { branch: "main", sha: first.sha } }))).toMatch(/^conflict: /);
    expect(await inBare("rev-parse", "main")).toBe(head);
  });

  test("CAP-5 paths that can't be changed, and changes of nothing, are refused with the reason", async () => {
    const cases: readonly (readonly [FileChanges["changes"][number], RegExp])[] = [
      [{ path: "../x", content: "" }, /leads out of the repository/],
      [{ path: "/etc/passwd", content: "" }, /absolute/],
      [{ path: ".git/config", content: "" }, /git keeps this name/],
      [{ path: "a\nb", content: "" }, /characters that no name may have/],
      [{ path: "", content: "" }, /names no file/],
      [{ path: "a//b", content: "" }, /a part of it is empty or a dot/],
      [{ path: "a/./b", content: "" }, /a part of it is empty or a dot/],
      [{ path: "\ud800", content: "" }, /half a character/],
      [{ path: "server.py", content: "\ud800" }, /The text of "server.py" has half a character/],
      [{ path: "tools", content: "" }, /"tools" is a directory/],
      [{ path: "server.py/x", content: "" }, /"server.py" is a file, so nothing can be below it/],
      [{ path: "latest.py", content: "" }, /"latest.py" is a link or a submodule/],
      [{ path: "none.py", content: null }, /no file "none.py" to delete/],
      [{ path: "run.sh", content: "#!/bin/sh\n" }, /Nothing would change/],
    ];
    for (const [one, reason] of cases) expect(await refusal(change([one]))).toMatch(reason);
    const nested = ["new", "new/sub.py"].map((path) => ({ path, content: "" }));
    for (const changes of [nested, nested.toReversed()])
      expect(await refusal(change(changes))).toMatch(/"new" can't be a file and a directory/);
    expect(await inBare("rev-parse", "main")).toBe(head);
  });
});

test.runIf(isThorough)(
  "CAP-5 a search passes over large files, and over names of branches like the commit's",
  async () => {
    const place = await places["behind a URL"]();
    await git(place.bare, "config", "uploadpack.allowFilter", "true");
    const work = join(directory, randomUUID());
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}.js`, `wide${at}`.repeat(160_000)]));
    const sha = await makeRepository(work, { ...content, "large.txt": "os\n".repeat(400_000), ...wide });
    await git(work, "push", "--quiet", place.bare, "main");
    const opened = await files.open(place.of, { branch: "main", sha });
    expect(await opened.read("large.txt")).toBeNull();
    expect(await opened.search("not there", 10)).toEqual([]);
    expect(await opened.search("import OS", 10)).toEqual([{ path: "server.py", line: 1, text: "import os" }]);
    await expect(opened.search("wide", 10)).rejects.toThrow("Too many long lines contain this");
    await opened.close();

    const stored = randomUUID();
    await repositories.create(stored, "main");
    await git(work, "push", "--quiet", join(directory, "stored", `${stored}.git`), "main", `HEAD:refs/heads/${sha}`);
    const here = await files.open({ repositoryId: stored }, { branch: "main", sha });
    expect(await here.search("not there", 10)).toEqual([]);
  },
);

test("CAP-5 files behind a URL are fetched once, and a host that takes no pushes says so", async () => {
  const place = await places["behind a URL"]();
  const work = join(directory, randomUUID());
  const sha = await makeRepository(work, content);
  await git(work, "push", "--quiet", place.bare, "main");
  const at = { branch: "main", sha };
  const first = await files.open(place.of, at);
  const { length } = server.requests;
  const again = await files.open(place.of, at);
  expect(server.requests).toHaveLength(length);
  await first.close();
  expect(await again.read("run.sh")).not.toBeNull();
  await again.close();

  server.set({ takesPushes: false });
  const changes = [{ path: "server.py", content: "x\n" }];
  const author = { name: "Grace", email: "grace@example.test" };
  await expect(files.change(place.of, { parent: at, branch: "main", changes, author, message: "No" })).rejects.toThrow(
    /doesn't let this account or credential push/,
  );
  server.set({ takesPushes: true });
});
