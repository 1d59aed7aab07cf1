import type { RepositoryChange } from "@towpath/core/delivery/build/contract";
import { expect, test } from "vitest";
import { diagnoseHarness } from "./harness.ts";
import { diagnoseUv } from "./uv.ts";

// Which failures a known change of the repository ends.

type Status = Parameters<typeof diagnoseHarness>[0];
type Server = Parameters<typeof diagnoseHarness>[1];
type Listed = Pick<NonNullable<Server["dependencies"]>, "kind" | "file">;

const list = {
  requirements: [],
  inputs: [],
  usesTree: false,
  addsUvicorn: true,
  renewsLock: null,
  preferred: [],
  pins: [],
};
const require = (file: string, ...requirements: string[]): RepositoryChange => ({
  kind: "require",
  file,
  requirements,
  insteadOf: null,
});

function changeOf(more: Partial<Status> & Pick<Status, "code">, listed: Listed | null) {
  const status: Status = {
    state: "failed",
    message: "",
    file: "server.py",
    line: 1,
    module: null,
    candidates: [],
    traceback: null,
    ...more,
  };
  const dependencies = listed && { ...list, ...listed };
  const server = { program: { entrypoint: "server.py", arguments: [] }, entryFile: "server.py", dependencies };
  const { action } = diagnoseHarness(status, server);
  return action.kind === "code" ? action.change : action;
}

const requirements: Listed = { kind: "requirements", file: "requirements.txt" };

test("CAP-5 BLD-2 a missing module, another framework and a removed argument are fixed by a requirement in the file that lists them", () => {
  const missing = { code: "module_missing", module: "bs4.element" } as const;
  expect(changeOf(missing, requirements)).toEqual(require("requirements.txt", "beautifulsoup4"));
  expect(changeOf(missing, { kind: "uv-lock", file: "pyproject.toml" })).toEqual(
    require("pyproject.toml", "beautifulsoup4"),
  );
  expect(changeOf(missing, { kind: "none", file: null })).toEqual(
    require("requirements.txt", "fastmcp", "beautifulsoup4"),
  );
  // A program lists them, nobody knows where they are listed, or it is the repository's own.
  expect(changeOf(missing, { kind: "requirements", file: "setup.py" })).toBeUndefined();
  expect(changeOf(missing, null)).toBeUndefined();
  expect(changeOf({ ...missing, candidates: ["bs4/element.py"] }, requirements)).toBeUndefined();
  expect(changeOf({ code: "mcp_version_mismatch" }, requirements)).toEqual(require("requirements.txt", "mcp<2"));
  const removed = { code: "keyword_removed", module: "fastmcp", candidates: ["port", "4.1"] } as const;
  expect(changeOf(removed, requirements)).toEqual(require("requirements.txt", "fastmcp<3"));
  expect(changeOf({ ...removed, module: "mcp", candidates: ["port", "1.14"] }, requirements)).toEqual(
    require("requirements.txt", "mcp<1.12", "pydantic<2.12"),
  );
  for (const code of ["syntax_error", "import_failed", "lifespan_failed", "read_only"] as const)
    expect([code, changeOf({ code }, requirements)]).toEqual([code, undefined]);
});

const file = "requirements.txt";
const unsatisfiable = (why: string) => `error: No solution found when resolving dependencies\n  cause: Because ${why}`;

test.each<[string, string, RepositoryChange | undefined]>([
  [
    "a package that doesn't exist",
    unsatisfiable("no-such-thing was not found in the package registry and you require no-such-thing, we can"),
    { kind: "drop", file, name: "no-such-thing" },
  ],
  [
    "a version that doesn't exist",
    unsatisfiable("there is no version of idna==99.1 and you require idna==99.1, we can"),
    require(file, "idna"),
  ],
  [
    "a version that another package requires",
    unsatisfiable("only a>=1 is available and b==2 depends on a<1, we can"),
    undefined,
  ],
  [
    "a package for another system",
    unsatisfiable(
      "pywin32==306 has no wheels with a matching platform tag (e.g., `x`) and you require pywin32==306, we",
    ),
    { kind: "drop", file, name: "pywin32" },
  ],
  [
    "a package that needs a newer Python",
    unsatisfiable(
      "the current Python version (3.11.7) does not satisfy Python>=3.13 and a==1 depends on Python>=3.13, we",
    ),
    { kind: "python", file: ".python-version", version: "3.13" },
  ],
  [
    "a Python that there isn't",
    unsatisfiable("the current Python version (3.11.7) does not satisfy Python<3.8 and a==1 depends on Python<3.8, we"),
    undefined,
  ],
  [
    "a package that has to be compiled, with the same library as a wheel",
    "  × Failed to build `psycopg2==2.9.9`\n  ├─▶ The build backend returned an error\n  ╰─▶ Error: pg_config executable not found.",
    { kind: "require", file, requirements: ["psycopg2-binary"], insteadOf: "psycopg2" },
  ],
  [
    "a lock from before a change",
    "error: The lockfile at `/app/src/uv.lock` needs to be updated, but `--frozen` was provided.",
    { kind: "delete", file: "uv.lock" },
  ],
  ["requirements that conflict", unsatisfiable("a depends on b<1 and c depends on b>1, we can conclude"), undefined],
])("CAP-5 BLD-2 what ends %s", (_what, output, change) => {
  const { action } = diagnoseUv(output, { file, pythonVersion: "3.11.7" });
  expect(action.kind === "code" && action.change).toEqual(change);
});
