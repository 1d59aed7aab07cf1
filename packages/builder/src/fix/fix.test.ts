import type { RepositoryChange } from "@towpath/core/delivery/build/contract";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { filesToFix, fix } from "./fix.ts";

const lines = (...each: readonly string[]) => `${each.join("\n")}\n`;
const require = (file: string, requirement: string, insteadOf: string | null = null): RepositoryChange => ({
  kind: "require",
  file,
  requirements: [requirement],
  insteadOf,
});
const drop = (file: string, name: string): RepositoryChange => ({ kind: "drop", file, name });
/** The text of the changed file; undefined: nothing changes. */
const fixed = (change: RepositoryChange, text: string | null) => fix(change, { [change.file]: text })[change.file];

test("CAP-5 a requirement is added to a requirements file, in place of another one of it, or dropped", () => {
  const file = "app/requirements.txt";
  const text = lines("# Tools", "fastmcp>=2  # the framework", "Mcp[cli]==1.6 ; python_version > '3.9'", "-r more.txt");
  expect(fixed(require(file, "httpx"), text)).toBe(`${text}httpx\n`);
  expect(fixed(require(file, "httpx"), "fastmcp")).toBe("fastmcp\nhttpx\n");
  expect(fixed(require(file, "httpx"), "fastmcp\r\n")).toBe("fastmcp\r\nhttpx\r\n");
  expect(fixed(require(file, "mcp<2"), text)).toBe(text.replace("Mcp[cli]==1.6 ; python_version > '3.9'", "mcp<2"));
  expect(fixed(require(file, "fastmcp<3"), text)).toBe(text.replace("fastmcp>=2  #", "fastmcp<3  #"));
  expect(fixed(require(file, "psycopg2-binary", "psycopg2"), "Psycopg2==2.9\n")).toBe("psycopg2-binary\n");
  expect(fixed(drop(file, "fastmcp"), text)).toBe(text.replace("fastmcp>=2  # the framework\n", ""));
  expect(fix({ kind: "require", file, requirements: ["fastmcp", "httpx"], insteadOf: null }, { [file]: null })).toEqual(
    {
      [file]: "fastmcp\nhttpx\n",
    },
  );
  // It was made already, names nothing here, or a line goes on with hashes.
  expect(fixed(require(file, "httpx"), "httpx\n")).toBeUndefined();
  expect(fixed(drop(file, "none"), text)).toBeUndefined();
  expect(fixed(drop(file, "none"), null)).toBeUndefined();
  expect(fixed(require(file, "mcp<2"), "mcp==1 \\\n  --hash=sha256:00\n")).toBeUndefined();
  expect(fixed(drop(file, "mcp"), "mcp==1 \\\n  --hash=sha256:00\n")).toBeUndefined();
});

test("CAP-5 a pyproject.toml keeps its order, comments and ends of lines", () => {
  const file = "pyproject.toml";
  const head = ["[project]", 'name = "x"  # us', "dependencies = ["];
  const tail = ["]", "", "[tool.ruff]", "dependencies = ['not these']"];
  const text = lines(...head, '    "fastmcp>=2", # the framework', '    "idna"', ...tail);
  const added = lines(...head, '    "fastmcp>=2", # the framework', '    "idna",', '    "httpx",', ...tail);
  expect(fixed(require(file, "httpx"), text)).toBe(added);
  expect(fixed(require(file, "httpx"), text.replaceAll("\n", "\r\n"))).toBe(added.replaceAll("\n", "\r\n"));
  expect(fixed(require(file, "fastmcp<3"), text)).toBe(text.replace("fastmcp>=2", "fastmcp<3"));
  expect(fixed(drop(file, "FastMCP"), text)).toBe(lines(...head, '    "idna"', ...tail));
  expect(fixed(drop(file, "idna"), added)).toBe(
    lines(...head, '    "fastmcp>=2", # the framework', '    "httpx",', ...tail),
  );
  const inline = (list: string) => lines("[project]", `dependencies = [${list}]`);
  for (const [before, after] of [
    ["", '"httpx"'],
    [`'a[b]>1; x == "y"'`, `'a[b]>1; x == "y"', "httpx"`],
    ['"a",', '"a", "httpx",'],
  ] as const)
    expect(fixed(require(file, "httpx"), inline(before))).toBe(inline(after));
  expect(fixed(drop(file, "b"), inline('"a", "b", "c"'))).toBe(inline('"a", "c"'));
  expect(fixed(drop(file, "c"), inline('"a", "c"'))).toBe(inline('"a"'));
  expect(fixed(require(file, "httpx"), lines("[project]", 'name = "x"', "", "[tool.x]"))).toBe(
    lines("[project]", 'name = "x"', 'dependencies = ["httpx"]', "", "[tool.x]"),
  );
  const marked = 'pywin32; sys_platform == "win32"';
  expect(fixed(require(file, marked), inline(""))).toBe(inline(JSON.stringify(marked)));
  for (const other of [
    lines("[tool.poetry]", 'name = "x"'),
    lines("[project]", 'dynamic = ["dependencies"]'),
    lines("project.dependencies = []"),
    "[project",
  ])
    expect([other, fixed(require(file, "httpx"), other)]).toEqual([other, undefined]);
});

test("CAP-5 script blocks and fastmcp.json list requirements, too", () => {
  const script = lines("# /// script", "# dependencies = [", '#   "fastmcp",', "# ]", "#", "# ///", "import httpx");
  expect(fixed(require("server.py", "httpx"), script)).toBe(script.replace("# ]", '#   "httpx",\n# ]'));
  expect(fixed(require("server.py", "httpx"), lines("# /// script", '# requires-python = ">=3.11"', "# ///"))).toBe(
    lines("# /// script", '# requires-python = ">=3.11"', '# dependencies = ["httpx"]', "# ///"),
  );
  expect(fixed(require("server.py", "httpx"), "import httpx\n")).toBeUndefined();
  const json = `{\n\t"environment": {\n\t\t"dependencies": [\n\t\t\t"a"\n\t\t],\n\t\t"python": "3.12"\n\t}\n}\n`;
  expect(fixed(require("fastmcp.json", "httpx"), json)).toBe(json.replace('"a"', '"a",\n\t\t\t"httpx"'));
  expect(fixed(drop("fastmcp.json", "none"), json)).toBeUndefined();
  expect(fixed(drop("fastmcp.json", "none"), "{")).toBeUndefined();
});

test("CAP-5 a Python is pinned, and allowed where requires-python excludes it; a file is deleted", () => {
  const change: RepositoryChange = { kind: "python", file: "app/.python-version", version: "3.12" };
  expect(filesToFix(change)).toEqual(["app/.python-version", "app/pyproject.toml"]);
  const project = (range: string) => lines("[project]", `requires-python = "${range}" # checked`, "");
  const file = { "app/.python-version": "3.12\n" };
  expect(fix(change, {})).toEqual(file);
  expect(fix(change, { "app/.python-version": "3.9\n", "app/pyproject.toml": project(">=3.11") })).toEqual(file);
  expect(fix(change, { "app/.python-version": "3.12", "app/pyproject.toml": project("<3.10") })).toEqual({
    "app/pyproject.toml": project(">=3.12"),
  });
  expect(fix(change, { "app/.python-version": "3.12" })).toEqual({});
  const deletion: RepositoryChange = { kind: "delete", file: "uv.lock" };
  expect(fix(deletion, { "uv.lock": "x" })).toEqual({ "uv.lock": null });
  expect(fix(deletion, { "uv.lock": null })).toEqual({});
});

test("CAP-5 an edit of an odd file changes the list alone, or nothing", () => {
  const odd = [
    lines("[project]", 'description = """', 'dependencies = ["a"]', '"""', 'dependencies = ["b"]'),
    lines("[project]", 'dependencies = ["""a""", "b"]'),
    lines("[project]", "dependencies = ['a', \"b\" # ]", "]", "scripts.x = 'y'"),
    lines("[project]", "dependencies = [", '  "a"', '  , "b" # b', "]"),
    lines('text = """', "[project]", '"""', "[project]", 'dependencies = ["a"]'),
    lines("[project]", 'name = "x"', "", "[project.scripts]", 'x = "y"'),
  ];
  for (const text of odd.flatMap((each) => [each, each.replaceAll("\n", "\r\n"), each.trimEnd()]))
    for (const change of [
      require("pyproject.toml", "httpx"),
      require("pyproject.toml", "a<2"),
      require("pyproject.toml", "c", "b"),
      drop("pyproject.toml", "a"),
      drop("pyproject.toml", "b"),
    ]) {
      const after = fixed(change, text) ?? text;
      const [was, is] = [parse(text), parse(after)] as { project: { dependencies?: string[] } }[];
      const others = (all: typeof was) => ({ ...all, project: { ...all?.project, dependencies: null } });
      expect(others(is)).toEqual(others(was));
      expect(after.replaceAll("\r\n", "").includes("\n")).toBe(text.replaceAll("\r\n", "").includes("\n"));
    }
  const range = { ".python-version": "3.12", "pyproject.toml": '[project]\nrequires-python = """<3.10"""\n' };
  expect(fix({ kind: "python", file: ".python-version", version: "3.12" }, range)).toEqual({});
  const json = lines(
    "{",
    '  "source": {},',
    '  "environment": {',
    '    "dependencies": [',
    '      "a"',
    "    ]",
    "  }",
    "}",
  );
  expect(fixed(require("fastmcp.json", "b"), json)).toBe(json.replace('"a"', '"a",\n      "b"'));
  expect(fixed(require("requirements.txt", "fastmcp<3"), "fastmcp>=2 # why\r\n")).toBe("fastmcp<3 # why\r\n");
  for (const text of ["a==1 \\", "a==1 --hash=sha256:00\n"])
    expect(fixed(require("requirements.txt", "httpx"), text)).toBeUndefined();
});
