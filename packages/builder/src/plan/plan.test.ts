import { expect, test } from "vitest";
import { factsOf, failureOf, log, planOf } from "../testing/plan-of.ts";
import { makePlan } from "./plan.ts";

const pyproject = `
[project]
name = "my-server"
version = "1.2"
requires-python = ">=3.10"
dependencies = ["fastmcp>=2", "httpx"]
`;
const lock = `
version = 1
requires-python = ">=3.10"
[[package]]
name = "my-server"
source = { virtual = "." }
[package.metadata]
requires-dist = [{ name = "fastmcp" }, { name = "httpx" }]
[[package]]
name = "uvicorn"
source = { registry = "https://pypi.org/simple" }
`;
const script = `# /// script
# requires-python = ">=3.11"
# dependencies = ["fastmcp", "requests<3"]
# ///
x = 1
`;
const everything = {
  "uv.lock": lock,
  "pyproject.toml": pyproject,
  "requirements.txt": "fastmcp\n",
  "server.py": script,
};

test("BLD-3 dependencies come from uv.lock, pyproject.toml, requirements.txt, the script block or none, in this order, with the reason", () => {
  const without = (...names: (keyof typeof everything)[]) => {
    const files: Record<string, string> = { ...everything };
    for (const name of names) files[name] = name === "server.py" ? "x = 1\n" : "";
    for (const name of names) if (name !== "server.py") delete files[name];
    return planOf(files);
  };
  const plans = [
    without(),
    without("uv.lock"),
    without("uv.lock", "pyproject.toml"),
    without("uv.lock", "pyproject.toml", "requirements.txt"),
    without("uv.lock", "pyproject.toml", "requirements.txt", "server.py"),
  ];
  expect(plans.map((plan) => plan.dependencies.kind)).toEqual([
    "uv-lock",
    "pyproject",
    "requirements",
    "script",
    "none",
  ]);
  for (const plan of plans) expect(log(plan)).toMatch(/^Dependencies: .+/m);
  expect(plans[3]?.dependencies.requirements).toEqual(["fastmcp", "requests<3"]);
  expect(plans[4]?.dependencies.requirements).toEqual(["fastmcp"]);
});

test("BLD-3 a configured requirements file is used; if another source takes precedence, there is a warning", () => {
  const files = { "deps/prod.txt": "fastmcp\n-r base.txt\n", "deps/base.txt": "httpx\n", "requirements.txt": "x\n" };
  const plan = planOf(files, { requirements: "deps/prod.txt" });
  expect(plan.dependencies).toMatchObject({ kind: "requirements", inputs: ["deps/prod.txt", "deps/base.txt"] });
  const both = planOf({ ...files, "pyproject.toml": pyproject }, { requirements: "deps/prod.txt" });
  expect(both.dependencies.kind).toBe("pyproject");
  expect(both.log).toContainEqual({ kind: "warning", text: expect.stringContaining("deps/prod.txt") });
});

test("BLD-3 a pyproject.toml without dependencies (tool settings only) does not hide requirements.txt", () => {
  const plan = planOf({ "pyproject.toml": "[tool.ruff]\nline-length = 100\n", "requirements.txt": "fastmcp\n" });
  expect(plan.dependencies.kind).toBe("requirements");
  expect(log(plan)).toContain("pyproject.toml lists no dependencies");
});

test("BLD-3 requirements.txt is found beside the entrypoint and through fastmcp.json", () => {
  const beside = planOf(
    { "app/server.py": "", "app/requirements.txt": "fastmcp\n" },
    { entrypoint: "app/server.py:mcp" },
  );
  expect(beside.dependencies.file).toBe("app/requirements.txt");
  const named = planOf({
    "fastmcp.json": JSON.stringify({ environment: { requirements: "reqs/mcp.txt" } }),
    "reqs/mcp.txt": "fastmcp\n",
  });
  expect(named.dependencies.file).toBe("reqs/mcp.txt");
});

test("BLD-3 the dependencies in fastmcp.json come last, with fastmcp added", () => {
  const plan = planOf({ "fastmcp.json": JSON.stringify({ environment: { dependencies: ["pandas"] } }) });
  expect(plan.dependencies).toMatchObject({ kind: "fastmcp-json", requirements: ["fastmcp", "pandas"] });
});

test("BLD-3 Python version: .python-version, then requires-python, then fastmcp.json, then the default", () => {
  const fastmcp = { "fastmcp.json": JSON.stringify({ environment: { python: "3.12" } }) };
  const version = { ".python-version": "# pinned\n3.13.2\n" };
  const files = { "pyproject.toml": pyproject };
  const project = { range: ">=3.10", file: "pyproject.toml" };
  expect(planOf({ ...fastmcp, ...version, ...files }).python).toEqual({
    request: "3.13",
    from: ".python-version",
    within: project,
  });
  expect(planOf({ ...fastmcp, ...files }).python).toMatchObject({ request: ">=3.10", from: "pyproject.toml" });
  expect(planOf(fastmcp).python).toEqual({ request: "3.12", from: "fastmcp.json", within: null });
  expect(planOf({}).python.request).toBeNull();
  expect(planOf({ "server.py": script }).python).toMatchObject({ request: ">=3.11", from: "server.py" });
  const odd = planOf({ ".python-version": "my-virtualenv\n", ...files });
  expect(odd.python.request).toBe(">=3.10");
  expect(odd.log).toContainEqual({ kind: "warning", text: expect.stringContaining("my-virtualenv") });
});

test("BLD-3 BLD-18 a lock for fewer versions limits them, and requirements override .python-version", () => {
  const files = {
    "pyproject.toml": pyproject,
    "uv.lock": lock.replace(/requires-python = "[^"]*"/, 'requires-python = ">=3.13"'),
    ".python-version": "3.10\n",
  };
  const plan = planOf(files);
  const required = { range: ">=3.10,>=3.13", file: "pyproject.toml and uv.lock" };
  expect(plan.python).toEqual({ request: required.range, from: required.file, within: required });
  const text =
    ".python-version is ignored: it asks for Python 3.10; >=3.10,>=3.13 is required (pyproject.toml and uv.lock).";
  expect(plan.log).toContainEqual({ kind: "warning", text });
});

test("BLD-3 a lock older than pyproject.toml is renewed, with a warning that lists the missing packages", () => {
  const versions = lock.replace('name = "uvicorn"', 'name = "uvicorn"\nversion = "0.35.0"');
  const plan = planOf({ "uv.lock": versions, "pyproject.toml": pyproject.replace('"httpx"', '"httpx", "Rich_Text"') });
  expect(plan.dependencies).toMatchObject({
    kind: "pyproject",
    inputs: ["pyproject.toml", "uv.lock"],
    preferred: ["uvicorn==0.35.0"],
    renewsLock: "is older than pyproject.toml: it doesn't include rich-text",
  });
  expect(plan.log).toContainEqual({ kind: "step", text: expect.stringContaining("renewed for this build") });
});

test.each([
  ["httpx>=0.28", true],
  ["httpx[http2] ~= 0.27.1", true],
  ["httpx>=0.27,<0.28", false],
  ["httpx", false],
  ['httpx>=0.28; python_version<"3.9"', false],
])(
  "BLD-3 a lock whose version of a direct dependency %s doesn't allow any more is renewed: %s",
  (requirement, renewed) => {
    const httpx = `[[package]]\nname = "httpx"\nversion = "0.27.0"\nsource = { registry = "https://pypi.org/simple" }\n`;
    const project = pyproject.replace('"httpx"', JSON.stringify(requirement));
    const { dependencies } = planOf({ "uv.lock": `${lock}${httpx}`, "pyproject.toml": project });
    expect(dependencies.kind).toBe(renewed ? "pyproject" : "uv-lock");
    expect(dependencies.renewsLock).toEqual(
      renewed ? expect.stringMatching(/^is older than pyproject\.toml: it has httpx 0\.27\.0 \(now [>~]/) : null,
    );
    const overrides = `${lock}[manifest]\noverrides = [{ name = "httpx", specifier = "==0.27.0" }]\n${httpx}`;
    expect(planOf({ "uv.lock": overrides, "pyproject.toml": project }).dependencies.kind).toBe("uv-lock");
  },
);

test("BLD-3 the lock of a project with another name is only followed where the requirements allow it", () => {
  const project = pyproject.replace(/name = "[^"]*"/, 'name = "Re_named"');
  const versions = lock.replace('name = "uvicorn"', 'name = "uvicorn"\nversion = "0.35.0"');
  const { dependencies, log: lines } = planOf({ "uv.lock": versions, "pyproject.toml": project });
  expect(dependencies).toMatchObject({ kind: "pyproject", inputs: ["pyproject.toml", "uv.lock"] });
  expect(dependencies.preferred).toEqual(["uvicorn==0.35.0"]);
  expect(lines).toContainEqual({ kind: "step", text: expect.stringContaining("doesn't include Re_named") });
});

test("BLD-3 without any other list, dependencies are those of setup.py or setup.cfg", () => {
  const setup = 'from setuptools import setup\nsetup(name="a", install_requires=["six"])\n';
  const config = "[options]\ninstall_requires =\n  six\n";
  const found = (files: Record<string, string>) => planOf(files).dependencies;
  expect(found({ "setup.py": setup, "setup.cfg": config })).toMatchObject({ file: "setup.py", usesTree: true });
  expect(found({ "setup.py": "from setuptools import setup\nsetup()\n", "setup.cfg": config }).file).toBe("setup.cfg");
  expect(found({ "setup.py": setup, "requirements.txt": "six\n" }).file).toBe("requirements.txt");
  expect(found({ "setup.py": "x = 1\n" }).kind).toBe("none");
});

test("BLD-3 the input digest changes with the dependencies, not with the code", () => {
  const files = { "pyproject.toml": pyproject, "server.py": "a = 1\n" };
  const facts = (more: Record<string, string>, digest: string) => ({ ...factsOf({ ...files, ...more }), digest });
  const settings = { entrypoint: "server.py", arguments: [], requirements: null, rootDirectory: null };
  const before = makePlan(facts({}, "1"), settings).inputDigest;
  expect(makePlan(facts({ "server.py": "a = 2\n" }, "2"), settings).inputDigest).toBe(before);
  const changed = facts({ "pyproject.toml": pyproject.replace("httpx", "rich") }, "1");
  expect(makePlan(changed, settings).inputDigest).not.toBe(before);
});

test("BLD-3 the dependency layer depends on the code only when something is built from the repository", () => {
  const native = `${pyproject}[build-system]\nrequires = ["maturin"]\nbuild-backend = "maturin"\n`;
  expect(planOf({ "pyproject.toml": native })).toMatchObject({ usesTree: true, project: { mode: "build" } });
  const pure = `${pyproject}[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n`;
  const hatch = `${pure}[tool.hatch.build.targets.wheel]\npackages = ["python/my_server"]\n`;
  expect(planOf({ "pyproject.toml": hatch })).toMatchObject({
    usesTree: false,
    project: { mode: "path", name: "my-server", version: "1.2", importRoots: ["", "src", "python"] },
  });
  const script = `${pure}[project.scripts]\nshop = "shop_server.main:run"\n`;
  const elsewhere = planOf({ "pyproject.toml": script, "shop-server/main.py": "" }, { entrypoint: "shop" });
  expect(elsewhere).toMatchObject({ usesTree: true, project: { mode: "build" } });
  expect(elsewhere.log.map(({ text }) => text).join()).toContain("its modules are elsewhere in the repository");
  const there = planOf({ "pyproject.toml": script, "src/shop_server/main.py": "" }, { entrypoint: "shop" });
  expect(there).toMatchObject({ usesTree: false, project: { mode: "path" } });
  expect(planOf({ "requirements.txt": "-e .\nfastmcp\n" }).usesTree).toBe(true);
  expect(planOf({ "requirements.txt": "fastmcp # see ./docs\n" }).usesTree).toBe(false);
});

test("BLD-2 for an entrypoint that does not exist, likely files are suggested", () => {
  const found = failureOf(() =>
    planOf({ "src/app/server.py": "", "tests/server.py": "" }, { entrypoint: "main/server.py:mcp" }),
  );
  const action = { kind: "entrypoint", candidates: ["server.py", "src/app/server.py"] };
  expect(found).toMatchObject({ code: "entrypoint_not_found", file: "main/server.py", action });
  expect(found.remedy).toContain("`server.py`");
  expect(found.remedy).toContain("`src/app/server.py`");
  expect(found.remedy).not.toContain("tests/");
  expect(failureOf(() => planOf({}, { entrypoint: "../server.py" })).code).toBe("entrypoint_not_found");
});

test("BLD-2 for a configured requirements file that does not exist, existing ones are suggested", () => {
  const found = failureOf(() => planOf({ "requirements-prod.txt": "" }, { requirements: "requirements.txt" }));
  expect(found).toMatchObject({ code: "requirements_not_found", file: "requirements.txt" });
  expect(found.remedy).toContain("`requirements-prod.txt`");
});

test("BLD-2 a malformed project file is reported with its line", () => {
  const found = failureOf(() => planOf({ "pyproject.toml": '[project]\nname = "a\n' }));
  expect(found).toMatchObject({ code: "invalid_project_file", file: "pyproject.toml", line: 2 });
  expect(failureOf(() => planOf({ "fastmcp.json": "{" }))).toMatchObject({ file: "fastmcp.json" });
  const conflict = failureOf(() => planOf({ "uv.lock": "<<<<<<< HEAD\n", "pyproject.toml": pyproject }));
  expect(conflict).toMatchObject({ code: "lock_outdated", file: "uv.lock" });
  expect(conflict.remedy).toContain("uv lock");
  expect(failureOf(() => planOf({ "pyproject.toml": "[project]\ndependencies = 3\n" })).detail).toContain(
    "dependencies",
  );
});

test("BLD-18 another Python must satisfy requires-python of the project or its lock, or a range in fastmcp.json", () => {
  const version = { ".python-version": "3.13\n" };
  expect(planOf(version).python.within).toBeNull();
  const unbounded = { "pyproject.toml": pyproject.replace('requires-python = ">=3.10"\n', "") };
  const locked = planOf({ ...version, ...unbounded, "uv.lock": lock }).python;
  expect(locked.within).toEqual({ range: ">=3.10", file: "uv.lock" });
  const ranged = planOf({ "fastmcp.json": JSON.stringify({ environment: { python: ">=3.12" } }) }).python;
  expect(ranged.within).toEqual({ range: ">=3.12", file: "fastmcp.json" });
});
