import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileChanges, GitFiles, GitHubFiles, RepositoryAddress } from "@towpath/core/ports";
import { createAddressPolicy } from "@towpath/egress";
import { createGitFiles, openRepositories } from "@towpath/git";
import { createGitHubConnections, createGitHubFiles } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, startTestForge, type TestForge } from "../testing/test-forge.ts";

/* The editor's ports against the stand-in, which answers like github.com. */

let forge: TestForge;
let directory: string;
let hub: GitHubFiles;
let files: GitFiles;
let address: RepositoryAddress;
let head: string;
let pushUrl: string;

beforeAll(async () => {
  forge = await startTestForge();
  directory = await mkdtemp(join(tmpdir(), "towpath-commit-"));
  hub = createGitHubFiles(createGitHubConnections(forge.gitHubConfig, async () => []));
  files = createGitFiles({
    policy: createAddressPolicy([]),
    directory: join(directory, "scratch"),
    repositories: openRepositories({ directory: join(directory, "stored") }),
  });
  for (const login of ["ada", "eve"]) await forge.admin.ensureAccount({ login, name: "Ada Lock" });
  const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
  ({ pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "tools", private: true }));
  address = { installationId, owner: "ada", name: "tools" };
  await git(directory, "init", "-q", "-b", "main", ".");
  await writeFile(join(directory, "server.py"), "mcp = 1\n");
  await git(directory, "add", "server.py");
  await git(directory, "commit", "-q", "-m", "First");
  await git(directory, "push", "-q", pushUrl, "main");
  head = (await git(directory, "rev-parse", "HEAD")).trim();
});
afterAll(async () => {
  await forge?.close();
  await rm(directory, { recursive: true, force: true });
});

const edit = (branch: string, author: FileChanges["author"]): FileChanges => ({
  parent: { branch: "main", sha: head },
  branch,
  author,
  message: "Answer more",
  changes: [{ path: "server.py", content: "mcp = 2\n" }],
});

test("CAP-5 a private repository of GitHub is read by the App, at any address of the environment's host", async () => {
  const opened = await files.open(
    { key: "a server", remote: await hub.reading(address) },
    { branch: "main", sha: head },
  );
  expect(await opened.paths()).toEqual(["server.py"]);
  expect(await opened.search("MCP", 10)).toEqual([{ path: "server.py", line: 1, text: "mcp = 1" }]);
  await opened.close();
});

test("CAP-5 a person commits as themselves to a new branch and opens a pull request; who may not push is refused", async () => {
  const userToken = await forge.admin.userToken("ada");
  const { remote, author } = await hub.writing(address, userToken);
  expect(author).toEqual({ name: "Ada Lock", email: expect.stringMatching(/^\d+\+ada@users\.noreply\./) });
  const { sha } = await files.change({ key: "ada/tools", remote }, edit("more", author));
  await git(directory, "fetch", "-q", pushUrl, "more");
  const shown = await git(directory, "log", "-1", "--format=%H %P %an %ae", "FETCH_HEAD");
  expect(shown.trim()).toBe(`${sha} ${head} ${author.name} ${author.email}`);
  const url = await hub.openPullRequest(address, {
    head: "more",
    base: "main",
    title: "Answer",
    body: "",
    userToken,
  });
  expect(url).toBe(`${forge.url}/ada/tools/pull/1`);

  const stranger = await hub.writing(address, await forge.admin.userToken("eve"));
  await expect(
    files.change({ key: "ada/tools", remote: stranger.remote }, edit("other", stranger.author)),
  ).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringMatching(/shows no repository .* or the token or key may not read it/),
  });
  await expect(hub.writing(address, "forge_u_wrong")).rejects.toMatchObject({ code: "conflict" });
});

test("CAP-5 a branch that GitHub protects says so with its words, and to use another branch", async () => {
  await forge.setPushRule('echo "error: GH006: Protected branch update failed for refs/heads/main." >&2; exit 1');
  const { remote, author } = await hub.writing(address, await forge.admin.userToken("ada"));
  await expect(files.change({ key: "ada/tools", remote }, edit("main", author))).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringMatching(/protects main: error: GH006.* Commit to a new branch/),
  });
  await forge.setPushRule(null);
});
