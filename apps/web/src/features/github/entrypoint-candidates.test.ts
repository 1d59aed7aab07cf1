import { expect, test } from "vitest";
import { entrypointCandidates } from "./entrypoint-candidates.ts";

test("ONB-5 files that may be the server are offered, likeliest first", () => {
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

test("ONB-5 a repository without Python offers nothing, and paths too long to be entrypoints are left out", () => {
  expect(entrypointCandidates(["package.json", `${"a/".repeat(80)}server.py`])).toEqual({
    entrypoints: [],
    requirementFiles: [],
  });
});
