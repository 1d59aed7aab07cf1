import { projectNameSchema } from "@towpath/core/project/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { entrypointCandidates, serverNameFrom } from "./repository-proposals.ts";

test("ONB-5 files that may be the server are suggested, most likely first", () => {
  const { entrypoints, requirementFiles } = entrypointCandidates([
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
  ]);
  expect(entrypoints).toEqual(["main.py", "src/server.py", "weather_mcp.py", "src/app/util.py"]);
  expect(requirementFiles).toEqual(["requirements.txt", "requirements-dev.txt"]);
});

test("ONB-5 nothing is suggested for a repository without Python, nor a path too long for an entrypoint", () => {
  expect(entrypointCandidates(["package.json", `${"a/".repeat(80)}server.py`])).toEqual({
    entrypoints: [],
    requirementFiles: [],
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
