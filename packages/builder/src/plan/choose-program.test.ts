import { expect, test } from "vitest";
import { failureOf, log, planOf } from "../testing/plan-of.ts";
import { makePlan } from "./plan.ts";

const script = `# /// script
# requires-python = ">=3.11"
# dependencies = ["fastmcp", "requests<3"]
# ///
x = 1
`;
const packaged = `
[project]
name = "my-server"
dependencies = ["fastmcp"]
[project.scripts]
my_server = "my_server.cli:main"
other = "my_server.other:run"
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
`;
const inSrc = {
  "pyproject.toml": packaged,
  "src/my_server/__init__.py": "",
  "src/my_server/__main__.py": "",
  "src/my_server/cli.py": "",
};

test.each([
  ["my_server", "src/my_server/cli.py", "a console script of pyproject.toml, which calls my_server.cli:main"],
  ["other", "pyproject.toml", "a console script of pyproject.toml, which calls my_server.other:run"],
  ["my_server.cli:main", "src/my_server/cli.py", "the function main of src/my_server/cli.py"],
  ["my_server:main", "src/my_server/__init__.py", "the function main of src/my_server/__init__.py"],
  ["my_server.cli", "src/my_server/cli.py", "run as `python -m my_server.cli`"],
])("BLD-16 the entrypoint %s begins in %s, with the reason", (entrypoint, file, what) => {
  const plan = planOf(inSrc, { entrypoint });
  expect(plan).toMatchObject({ program: { entrypoint, arguments: [] }, entryFile: file, others: [] });
  expect(log(plan)).toContain(`Entrypoint: ${entrypoint} (set under Settings → Build); ${what}. The server that it`);
  expect(plan.project).toMatchObject({ mode: "path", scripts: { my_server: "my_server.cli:main" } });
});

test("BLD-16 arguments that the README gives are tried if the program wants some, unless the settings name others", () => {
  const readme = '"command": "uvx", "args": ["my-server", "my_server", "serve"]';
  const files = { ...inSrc, "src/my_server/cli.py": "import mcp", "README.md": readme };
  const plan = planOf(files, { entrypoint: "" });
  expect(plan.program).toEqual({ entrypoint: "my_server", arguments: [] });
  expect(plan.others[0]?.program).toEqual({ entrypoint: "my_server", arguments: ["serve"] });
  expect(log(plan)).toContain("If it starts no server: my_server serve (as README.md starts it)");
  const set = planOf(files, { entrypoint: "", arguments: ["run"] });
  expect(set.others.map(({ program }) => program.arguments)).not.toContainEqual(["serve"]);
});

test("BLD-16 a package without a script of that name is run by python -m; a file comes before both", () => {
  const { "pyproject.toml": _, ...files } = inSrc;
  expect(planOf(files, { entrypoint: "my_server" }).entryFile).toBe("src/my_server/__main__.py");
  expect(planOf({ ...inSrc, other: "" }, { entrypoint: "other" }).entryFile).toBe("other");
});

test("BLD-16 for an entrypoint that doesn't exist, others are suggested: scripts, packages, then files", () => {
  const { action } = failureOf(() => planOf(inSrc, { entrypoint: "nothing.here:main" }));
  expect(action).toEqual({ kind: "entrypoint", candidates: ["my_server", "other", "server.py"] });
});

test("BLD-16 names of scripts that can't be written to metadata are left out", () => {
  const hostile = packaged.replace("my_server =", '"--evil" =').replace("other =", '"a\\nb" =');
  expect(planOf({ ...inSrc, "pyproject.toml": hostile }).project.scripts).toBeUndefined();
});

const serverCode = 'from fastmcp import FastMCP\nmcp = FastMCP("demo")\n';
/** The programs that a commit offers, in order, from its log. */
function foundIn(files: Record<string, string>, argv: readonly string[] = []) {
  const known = new Map(Object.entries(files));
  const facts = { paths: new Set(known.keys()), texts: known, code: known, digest: "d".repeat(64), context: null };
  return makePlan(facts, { entrypoint: "", arguments: argv, requirements: null, rootDirectory: null });
}

test("BLD-2 a repository has nothing to do with MCP only where all of its Python files are known, and none mentions it", () => {
  const library = { "app.py": "print('hello')\n", "lib/tools.py": "x = 1\n" };
  expect(foundIn(library)).toMatchObject({ isGuess: true, lacksMcp: true });
  for (const text of ["import my_mcp", "# Model Context Protocol", 'if method == "tools/list":', "JSON-RPC"])
    expect(foundIn({ ...library, "lib/tools.py": text }).lacksMcp).toBe(false);
  expect(planOf({ "server.py": "x = 1\n" }, { entrypoint: "" }).lacksMcp).toBe(false);
  expect(planOf(library, { entrypoint: "app.py" }).lacksMcp).toBe(false);
});

test("BLD-16 servers beside the one that is found are named, unless something imports them", () => {
  const files = { "alpha.py": serverCode, "beta.py": serverCode, "util.py": "x = 1\n", "other/gamma.py": serverCode };
  expect(foundIn(files)).toMatchObject({ entryFile: "alpha.py", servers: ["alpha.py", "beta.py"] });
  expect(planOf(files, { entrypoint: "alpha.py" }).servers).toEqual([]);
  const mounting = { ...files, "alpha.py": `from beta import mcp as other\n${serverCode}mcp.mount(other)\n` };
  expect(foundIn(mounting).servers).toEqual([]);
  expect(foundIn({ ...files, "beta.py": "import mcp\napp = FastAPI()\n" }).servers).toEqual([]);
});

test("BLD-16 PRJ-2 without an entrypoint the commit's own is found: fastmcp.json, scripts, packages, files, in this order", () => {
  const all: Record<string, string> = {
    ...inSrc,
    "src/my_server/cli.py": serverCode,
    "weather.py": serverCode.replace("mcp =", "weather ="),
    "tests/server.py": serverCode,
    "deploy/server.py": serverCode,
    "fastmcp.json": JSON.stringify({
      source: { path: "deploy/server.py", entrypoint: "mcp" },
      deployment: { args: ["--db", "a b"] },
    }),
  };
  const first = foundIn(all);
  expect(first.program).toEqual({ entrypoint: "deploy/server.py:mcp", arguments: ["--db", "a b"] });
  expect(log(first)).toContain("Entrypoint: deploy/server.py:mcp (found automatically); the source in fastmcp");
  expect(log(first)).toContain("Arguments: --db 'a b' (found with it).");
  // The settings' arguments replace those of the file.
  expect(foundIn(all, ["stdio"]).program.arguments).toEqual(["stdio"]);
  delete all["fastmcp.json"];
  const script = foundIn(all);
  expect(script.program).toEqual({ entrypoint: "my_server", arguments: [] });
  expect(log(script)).toContain(
    "a console script of pyproject.toml, named like the project; it calls my_server.cli:main.",
  );
  expect(log(script)).toContain("If it starts no server: deploy/server.py (a file that defines the server `mcp`)");
  all["pyproject.toml"] = packaged.replace(/\[project.scripts\][^[]*/, "");
  all["src/my_server/__main__.py"] = "from .cli import mcp\n";
  expect(foundIn(all)).toMatchObject({ program: { entrypoint: "my_server" }, entryFile: "src/my_server/__main__.py" });
  delete all["src/my_server/__main__.py"];
  delete all["src/my_server/cli.py"];
  expect(foundIn(all).program.entrypoint).toBe("deploy/server.py");
  delete all["deploy/server.py"];
  expect(foundIn(all)).toMatchObject({ program: { entrypoint: "weather.py:weather" }, entryFile: "weather.py" });
  all["weather.py"] += 'if __name__ == "__main__":\n    weather.run()\n';
  expect(foundIn(all).program.entrypoint).toBe("weather.py");
});

test("BLD-16 programs unrelated to MCP come after a file that defines a server, with any name", () => {
  const generated = { ...inSrc, "src/my_server/cli.py": "def main():\n    print('hello')\n" };
  const plan = foundIn({ ...generated, "server.py": serverCode });
  expect(plan.program.entrypoint).toBe("server.py");
  expect(plan.others.map(({ program }) => program.entrypoint)).toEqual(["my_server", "other"]);
  // Several scripts, none of them named like the project: the one that is named like a server.
  const scripts = packaged.replace("my_server =", "ingest =").replace("other =", "demo-mcp =");
  expect(foundIn({ ...inSrc, "pyproject.toml": scripts }).program.entrypoint).toBe("demo-mcp");
  // A library's own command is named like it, its server like MCP.
  const library = packaged.replace("other =", "my-server-mcp =");
  expect(foundIn({ ...inSrc, "pyproject.toml": library }).program.entrypoint).toBe("my-server-mcp");
});

test("BLD-16 scripts of setup.cfg and setup.py, and of projects that aren't installed, are found as functions", () => {
  const cfg = "[options.entry_points]\nconsole_scripts =\n    demo = demo.cli:main\n    more = demo.more:main\n\n[x]\n";
  expect(foundIn({ "setup.cfg": cfg.replace(/ {4}more.*\n/, ""), "demo/cli.py": serverCode }).program.entrypoint).toBe(
    "demo.cli:main",
  );
  const setup = "setup(entry_points={\n  'console_scripts': ['demo=demo.cli:main'],\n})\n";
  expect(foundIn({ "setup.py": setup, "demo/cli.py": serverCode })).toMatchObject({
    program: { entrypoint: "demo.cli:main" },
    entryFile: "demo/cli.py",
  });
  const virtual = "[project]\nname = 'demo'\n[project.scripts]\ndemo = 'cli:main'\n[tool.uv]\npackage = false\n";
  expect(foundIn({ "pyproject.toml": virtual, "cli.py": serverCode }).program.entrypoint).toBe("cli:main");
});

test("BLD-15 projects with a server come before files at the top that have nothing to do with MCP, and after those that do", () => {
  const project = (name: string) => ({
    [`${name}/pyproject.toml`]: packaged,
    [`${name}/server.py`]: serverCode,
  });
  const files = { "main.py": "print('tools of this repository')\n", ...project("servers/one"), ...project("two") };
  expect(failureOf(() => foundIn(files)).action).toEqual({
    kind: "root-directory",
    candidates: ["two", "servers/one"],
  });
  expect(foundIn({ ...files, "main.py": serverCode }).program.entrypoint).toBe("main.py");
});

test("BLD-16 a found file's own requirements count; a commit without a server lists where one may be", () => {
  const beside = foundIn({ "app/server.py": serverCode, "app/requirements.txt": "fastmcp\n" });
  expect(beside.dependencies).toMatchObject({ kind: "requirements", file: "app/requirements.txt" });
  expect(foundIn({ "server.py": script + serverCode }).dependencies.kind).toBe("script");
  const members = { "README.md": "", "servers/one/pyproject.toml": packaged, "servers/one/server.py": serverCode };
  expect(failureOf(() => foundIn(members))).toMatchObject({
    code: "entrypoint_not_found",
    file: null,
    detail: "There is no server at its top, but 1 project with a server below it: `servers/one`.",
    remedy: expect.stringContaining("Set the root directory"),
    action: { kind: "root-directory", candidates: ["servers/one"] },
  });
  const library = failureOf(() => foundIn({ "servers/one/pyproject.toml": "[project]\nname = 'one'\n" }));
  expect([library.detail, library.action]).toEqual([
    "There is no server at its top, but 1 project below it: `servers/one`.",
    { kind: "settings", section: "build" },
  ]);
  expect(failureOf(() => foundIn({ "README.md": "" })).detail).toContain("There is no Python file in the repository");
  expect(failureOf(() => foundIn({ "tests/a.py": "" })).detail).toContain("1 Python file, and none but tests");
});
