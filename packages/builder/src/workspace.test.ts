import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { findBuildContext } from "./source/build-context.ts";
import { plainServer } from "./testing/plain-server.ts";
import { openWorkshop, type Tried, type Workshop } from "./testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// Real sandbox, uv and index.
let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

const packageOf = (name: string, dependencies: string, more = "") => `[project]
name = "${name}"
version = "1"
description = "A sample."
requires-python = ">=3.10"
dependencies = [${dependencies}]
[build-system]
requires = ["flit_core<4"]
build-backend = "flit_core.buildapi"
[tool.flit.module]
name = "${name.replaceAll("-", "_")}"
${more}`;

/** A server that imports another package of its repository and reports where it was installed from. */
const files = {
  "packages/greeting/pyproject.toml": packageOf("acme-greeting", '"idna"'),
  "packages/greeting/acme_greeting/__init__.py": '"""Greets."""\nimport idna\nword = "hello"\n',
  "servers/one/pyproject.toml": packageOf(
    "acme-one",
    '"acme-greeting"',
    "[tool.uv.sources]\nacme-greeting = { workspace = true }\n",
  ),
  "servers/one/acme_one/__init__.py": '"""One."""\n',
  "servers/one/server.py": plainServer
    .replace("import json", "import json\nimport acme_greeting")
    .replace('"description": "Adds."', '"description": acme_greeting.word'),
  "README.md": "A repository.\n",
};
const workspace = { "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*", "./servers/*/"]\n' };
const atServer = { rootDirectory: "servers/one", entrypoint: "server.py:app" };

function built({ result, text }: Tried) {
  if (!result.ok || result.manifest === null) throw new Error(text);
  return { description: result.manifest.tools[0]?.description, dependencies: result.layers.dependencies };
}

async function lockOf(repository: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-workspace-"));
  try {
    for (const [path, text] of Object.entries(repository)) {
      await mkdir(join(directory, dirname(path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    execFileSync("uv", ["lock", "--quiet", "--project", directory], { stdio: "inherit" });
    return await readFile(join(directory, "uv.lock"), "utf8");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test.runIf(isThorough)(
  "BLD-3 BLD-15 a member of a uv workspace is built with the members that it needs, at the workspace's locked versions",
  async () => {
    const repository = { ...files, ...workspace };
    const unlocked = await workshop.tryBuild(repository, atServer);
    expect(built(unlocked).description).toBe("hello");
    expect(unlocked.text).toContain("uv workspace: this project is a member of the one at the repository's root");

    const locked = { ...repository, "uv.lock": await lockOf(repository) };
    const first = await workshop.tryBuild(locked, atServer);
    expect(built(first).description).toBe("hello");
    expect(first.text).toContain("Dependencies: uv.lock");
    expect(first.text).not.toContain("uv.lock is older");

    // Its own code is not installed; that of other members is.
    const ownCode = { ...locked, "servers/one/server.py": `${locked["servers/one/server.py"]}\n# changed\n` };
    expect(built(await workshop.tryBuild(ownCode, atServer)).dependencies).toBe(built(first).dependencies);
    const greeting = "packages/greeting/acme_greeting/__init__.py";
    const others = { ...locked, [greeting]: locked[greeting].replace("hello", "good day") };
    expect(built(await workshop.tryBuild(others, atServer)).description).toBe("good day");
  },
);

test.runIf(isThorough)("BLD-3 BLD-15 a dependency by path may be outside the root directory", async () => {
  const own = files["servers/one/pyproject.toml"].replace(
    "{ workspace = true }",
    '{ path = "../../packages/greeting" }',
  );
  const tried = await workshop.tryBuild({ ...files, "servers/one/pyproject.toml": own }, atServer);
  expect(built(tried).description).toBe("hello");
  expect(tried.text).toContain("Dependencies lie outside the root directory");
});

const contextOf = (project: string, texts: Readonly<Record<string, string>>) =>
  findBuildContext(project, async (path) => texts[path] ?? null);

test("BLD-15 only a project that needs its workspace is built within it", async () => {
  const alone = "[project]\nname = 'alone'\n";
  const root = (table: string) => ({ "pyproject.toml": `[tool.uv.workspace]\n${table}\n`, "uv.lock": "version = 1\n" });
  const members = root('members = ["libs/**", "servers/*"]\nexclude = ["servers/old*"]');
  const needs = { "servers/a/pyproject.toml": files["servers/one/pyproject.toml"] };

  expect(await contextOf("servers/a", { ...members, "servers/a/pyproject.toml": alone })).toEqual({
    root: "",
    project: "servers/a",
    isWorkspace: true,
  });
  expect(await contextOf("libs/x/y", { ...members, "libs/x/y/pyproject.toml": alone })).toMatchObject({ root: "" });
  // Without a lock, only for the sake of other members.
  const unlocked = { "pyproject.toml": members["pyproject.toml"] };
  expect(await contextOf("servers/a", { ...unlocked, "servers/a/pyproject.toml": alone })).toBeNull();
  expect(await contextOf("servers/a", { ...unlocked, ...needs })).toMatchObject({ isWorkspace: true });
  // Not a member, excluded, no project, no workspace, or none that can be read.
  expect(await contextOf("tools/a", { ...members, "tools/a/pyproject.toml": alone })).toBeNull();
  expect(await contextOf("servers/old-a", { ...members, "servers/old-a/pyproject.toml": alone })).toBeNull();
  expect(await contextOf("servers/a", members)).toBeNull();
  expect(await contextOf("servers/a", needs)).toBeNull();
  expect(await contextOf("servers/a", { ...needs, "pyproject.toml": "[tool.uv.workspace\n" })).toBeNull();
  expect(await contextOf("", { ...members })).toBeNull();
  // The nearest one counts.
  const inner = { "apps/pyproject.toml": '[tool.uv.workspace]\nmembers = ["*"]\n', "apps/uv.lock": "version = 1\n" };
  const outer = { "pyproject.toml": '[tool.uv.workspace]\nmembers = ["apps/*"]\n', "uv.lock": "version = 1\n" };
  expect(await contextOf("apps/a", { ...outer, ...inner, "apps/a/pyproject.toml": alone })).toEqual({
    root: "apps",
    project: "a",
    isWorkspace: true,
  });
});

test("BLD-15 a path that leads out of the project makes the repository its context, one that stays inside doesn't", async () => {
  const sources = (path: string) => ({
    "servers/a/pyproject.toml": `[tool.uv.sources]\nlib = [{ path = "${path}", marker = "sys_platform == 'linux'" }]\n`,
  });
  expect(await contextOf("servers/a", sources("../../lib"))).toEqual({
    root: "",
    project: "servers/a",
    isWorkspace: false,
  });
  expect(await contextOf("servers/a", sources("./vendor/lib"))).toBeNull();
  expect(await contextOf("servers/a", sources("vendor/../lib"))).toBeNull();
});

test.runIf(isThorough)(
  "BLD-3 a fork with another name goes live with the versions of its lock, which `uv sync --frozen` refuses",
  async () => {
    const project = (name: string, dependency: string) => `[project]
name = "${name}"
version = "1"
requires-python = ">=3.10"
dependencies = ["${dependency}"]
`;
    const lock = await lockOf({ "pyproject.toml": project("acme-original", "six==1.16.0") });
    const server = plainServer.replace("import json", "import json\nimport six").replace('"Adds."', "six.__version__");
    const fork = { "pyproject.toml": project("acme-fork", "six"), "uv.lock": lock, "server.py": server };
    const tried = await workshop.tryBuild(fork, { entrypoint: "server.py:app" });
    expect(built(tried).description).toBe("1.16.0");
    expect(tried.text).toMatch(/plan step .*uv\.lock is that of a project with another name/);
  },
);

const projectOf = (...dependencies: string[]) =>
  `[project]\nname = "acme"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ${JSON.stringify(dependencies)}\n`;

test.runIf(isThorough)(
  "BLD-3 BLD-6 a lock that lacks a direct dependency is renewed as `uv run` does, with a warning",
  async () => {
    const lock = await lockOf({ "pyproject.toml": projectOf("six==1.16.0") });
    const server = plainServer
      .replace("import json", "import json\nimport idna, six")
      .replace('"Adds."', "six.__version__");
    const old = { "pyproject.toml": projectOf("six", "idna"), "uv.lock": lock, "server.py": server };
    const tried = await workshop.tryBuild(old, { entrypoint: "server.py:app" });
    expect(built(tried).description).toBe("1.16.0");
    expect(tried.result).toMatchObject({ ok: true, warnings: [{ code: "lock_renewed" }] });
    expect(tried.text).toMatch(/plan warning uv\.lock was renewed for this build\nIt is older .* doesn't include idna/);
  },
);

test.runIf(isThorough)(
  "BLD-3 BLD-6 a lock with a version that isn't allowed any more is renewed as `uv run` does, with a warning",
  async () => {
    const lock = await lockOf({ "pyproject.toml": projectOf("six==1.16.0") });
    const server = plainServer.replace("import json", "import json\nimport six").replace('"Adds."', "six.__version__");
    const old = { "pyproject.toml": projectOf("six==1.17.0"), "uv.lock": lock, "server.py": server };
    const tried = await workshop.tryBuild(old, { entrypoint: "server.py:app" });
    expect(built(tried).description).toBe("1.17.0");
    expect(tried.result).toMatchObject({ ok: true, warnings: [{ code: "lock_renewed" }] });
    expect(tried.text).toContain("it has six 1.16.0 (now ==1.17.0)");
  },
);
