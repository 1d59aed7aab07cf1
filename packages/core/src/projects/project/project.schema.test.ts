import fc from "fast-check";
import { expect, test } from "vitest";
import { anyCharacter } from "../../../../../tests/any-character.ts";
import {
  argumentsProblem,
  argumentsText,
  argumentsTextProblem,
  deployProjectSchema,
  entrypointProblem,
  projectNameProblem,
  projectNameSchema,
  requirementsProblem,
  splitArguments,
  updateProjectSchema,
} from "./project.schema.ts";

const nameProblem = (value: unknown) => {
  const parsed = projectNameSchema.safeParse(value);
  if (parsed.success) return null;
  expect(parsed.error.issues).toHaveLength(1);
  return parsed.error.issues[0]?.message;
};

const pattern = "Project name must start and end with a letter or number, contain only letters, numbers, and hyphens";

test.each([
  [undefined, "Project name is required"],
  ["", "Project name is required"],
  ["abcde", "Project name must be at least 6 characters long"],
  ["a_b", "Project name must be at least 6 characters long"],
  ["a".repeat(33), "Project name must be 32 characters or less"],
  ["-".repeat(33), "Project name must be 32 characters or less"],
  ["-abcdef", pattern],
  ["abcdef-", pattern],
  ["abc def", pattern],
  ["abc_def", pattern],
  ["abc.def", pattern],
  ["äbcdef", pattern],
  ["abcdef\n", pattern],
  ["abcdef", null],
  ["A1-b2-C", null],
  ["123456", null],
  ["a".repeat(32), null],
])("VAL-1 project name %j → %s", (value, text) => {
  expect(nameProblem(value)).toBe(text);
  // The form's own check.
  if (value !== undefined) expect(projectNameProblem(value)).toBe(text);
});

const identifier =
  "Identifier must be a valid Python identifier (letters, numbers, underscores, cannot start with number)";

test.each([
  ["", "Entrypoint is required"],
  ["  ", "Entrypoint is required"],
  [`${"a".repeat(126)}.py`, "Entrypoint path is too long (max 128 characters)"],
  [`${"a".repeat(125)}.py`, null],
  ["server.py:1mcp", identifier],
  ["server.py:my-mcp", identifier],
  ["server.py:a:b", identifier],
  ["server.py: mcp", identifier],
  ["server.py:", "Identifier cannot be empty after colon"],
  [":mcp", "File path is required"],
  ["/server.py", "Entrypoint must be a relative path from the repo root"],
  ["\\server.py", "Entrypoint must be a relative path from the repo root"],
  ["~/server.py", "Entrypoint must be a relative path from the repo root"],
  ["../server.py", "Entrypoint cannot reference parent directories"],
  ["src/../../server.py:mcp", "Entrypoint cannot reference parent directories"],
  ["src\\..\\server.py", "Entrypoint cannot reference parent directories"],
  ["ser\u0000ver.py", "Entrypoint contains invalid characters"],
  ["server\n.py", "Entrypoint contains invalid characters"],
  ["ser*ver.py", "Entrypoint contains invalid characters"],
  ["ser|ver.py", "Entrypoint contains invalid characters"],
  ["$(id).py", "Entrypoint contains invalid characters"],
  ["'server.py", "Entrypoint contains invalid characters"],
  ["-server.py", "Entrypoint contains invalid characters"],
  ["src/-server.py", "Entrypoint contains invalid characters"],
  ["src/", "Entrypoint must be a file, not a directory"],
  [".", "Entrypoint must be a file, not a directory"],
  ["src/:mcp", "Entrypoint must be a file, not a directory"],
  ["server.py", null],
  ["./server.py", null],
  ["src/my_server/main.py:create_server", null],
  ["a..b/server.py", null],
  ["src/mein server.py", null],
])("VAL-2 entrypoint %j → %s", (value, text) => {
  expect(entrypointProblem(value)).toBe(text);
});

test.each([
  ["", null],
  ["requirements.txt", null],
  ["deps/requirements.txt", null],
  ["/requirements.txt", "Requirements file must be a relative path from the repo root"],
  ["../requirements.txt", "Requirements file cannot reference parent directories"],
  ["requirements.txt:x", "Requirements file path contains invalid characters"],
  ["re\tq.txt", "Requirements file path contains invalid characters"],
  ["deps/", "Requirements file must be a file, not a directory"],
  ["a".repeat(129), "Requirements file path is too long (max 128 characters)"],
])("VAL-3 requirements file %j → %s", (value, text) => {
  expect(requirementsProblem(value)).toBe(text);
});

test("VAL-2 no valid entrypoint leaves the repository or could be parsed as an option", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (value) => {
      if (entrypointProblem(value) !== null) return;
      const path = value.split(":")[0] ?? "";
      expect(path.startsWith("/") || path.startsWith("-")).toBe(false);
      expect(path.split("/")).not.toContain("..");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
      expect(path).not.toMatch(/[\u0000-\u001f"'`$\\]/);
    }),
    { numRuns: 2000 },
  );
});

test("BLD-16 arguments are split as in a shell, without its substitutions, and written so that they split alike", () => {
  const text = `stdio  --db ':memory: x' "a\\"b" --path=/tmp/\\ x '' \${TOKEN} *`;
  const argv = ["stdio", "--db", ":memory: x", 'a"b', "--path=/tmp/ x", "", "$" + "{TOKEN}", "*"];
  expect(splitArguments(text)).toEqual(argv);
  expect(argumentsTextProblem("'open")).toBe("A quote is not closed");
  expect(argumentsProblem(Array.from({ length: 51 }, () => "a"))).toBe("At most 50 arguments");
  expect(argumentsProblem(["a".repeat(501)])).toContain("is too long");
  expect(argumentsProblem(["a\u0000b"])).toContain("control characters");
  fc.assert(
    fc.property(fc.array(fc.string()), (list) => {
      expect(splitArguments(argumentsText(list))).toEqual(list);
    }),
  );
});

test("VAL-2 BLD-16 a change of settings refuses an empty entrypoint; null lets each build find it", () => {
  const change = (entrypoint: unknown) => updateProjectSchema.safeParse({ entrypoint });
  expect(change("").error?.issues[0]?.message).toBe("Entrypoint is required");
  const entrypoints = [change(null), change(undefined), change("a.py")].map(({ data }) => data?.entrypoint);
  expect(entrypoints).toEqual([null, undefined, "a.py"]);
});

test("BLD-16 PRJ-2 a project's entrypoint may be empty: then each build finds it", () => {
  const base = { name: "echo-one", installationId: 1, repositoryFullName: "a/b", trigger: "import" };
  expect(deployProjectSchema.parse(base)).toMatchObject({ entrypoint: "", arguments: [] });
  expect(deployProjectSchema.safeParse({ ...base, entrypoint: " " }).error?.issues[0]?.message).toBe(
    "Entrypoint is required",
  );
});

test("VAL-3 a missing, null or empty requirements file means none", () => {
  const base = {
    name: "echo-one",
    installationId: 1,
    repositoryFullName: "a/b",
    entrypoint: "echo.py",
    trigger: "import",
  };
  for (const requirements of [undefined, null, "", "  "]) {
    expect(deployProjectSchema.parse({ ...base, requirements }).requirements).toBeNull();
  }
});
