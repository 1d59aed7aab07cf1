import { projectNameSchema, serverNameFrom } from "@towpath/core/projects/project/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { repositoryProposals } from "./repository-proposals.ts";

const proposalsOf = (files: Record<string, string>) =>
  repositoryProposals(Object.keys(files), async (path) => files[path] ?? null);

test("ONB-5 ONB-12 BLD-16 entrypoints are suggested by the rule of builds, most likely first", async () => {
  const files = [
    "README.md",
    "setup.py",
    "src/app/util.py",
    "tests/server.py",
    "src/server.py",
    "main.py",
    "weather_mcp.py",
    "test_main.py",
    ".github/tool.py",
    "requirements.txt",
    "requirements-dev.txt",
  ];
  expect(await proposalsOf(Object.fromEntries(files.map((path) => [path, ""])))).toEqual({
    entrypoints: ["main.py", "src/server.py", "weather_mcp.py", "src/app/util.py"],
    projects: [],
    requirementFiles: ["requirements.txt", "requirements-dev.txt"],
    variables: [],
  });
  const packaged = {
    "pyproject.toml":
      '[project]\nname = "demo"\n[project.scripts]\ndemo = "demo.cli:main"\n[build-system]\nrequires = []\n',
    "src/demo/cli.py": "",
    "src/demo/__main__.py": "",
  };
  expect((await proposalsOf(packaged)).entrypoints).toEqual(["demo", "src/demo/__main__.py"]);
  const inDirectory = Object.fromEntries(Object.entries(packaged).map(([path, text]) => [`servers/one/${path}`, text]));
  expect(await proposalsOf({ ...inDirectory, "README.md": "" })).toMatchObject({
    entrypoints: [],
    projects: [{ directory: "servers/one", entrypoints: ["demo", "src/demo/__main__.py"] }],
  });
});

test("ONB-5 nothing is suggested for a repository without Python, nor a path too long for an entrypoint", async () => {
  expect(await proposalsOf({ "package.json": "", [`${"a/".repeat(80)}server.py`]: "" })).toEqual({
    entrypoints: [],
    projects: [],
    requirementFiles: [],
    variables: [],
  });
});

test("VAL-1 a repository's name is proposed if it makes a valid server name", () => {
  expect(serverNameFrom("Weather_Server")).toBe("weather-server");
  expect(serverNameFrom("a.very-long_repository.name-that_does.not-fit")).toBe("a-very-long-repository-name-that");
  expect(serverNameFrom("mcp")).toBeNull();
  expect(serverNameFrom("---")).toBeNull();
});

test("VAL-1 property: a proposed name is always valid", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), (repository) => {
      const name = serverNameFrom(repository);
      if (name !== null) expect(projectNameSchema.safeParse(name).success).toBe(true);
    }),
  );
});
