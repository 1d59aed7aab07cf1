import { expect, test } from "vitest";
import { failureOfPackage } from "./for-packages.ts";
import { diagnoseUv } from "./uv.ts";

// Output of uv 0.13 for such a project, with the paths of the build sandbox.
const context = { file: "requirements.txt", pythonVersion: "3.11.7" };

test.each<[string, string, { code: string; file?: string; says?: string }]>([
  [
    "a package that does not exist",
    `error: No solution found when resolving dependencies
  cause: Because no-such-thing was not found in the package registry and you require no-such-thing, we can conclude that your requirements are unsatisfiable.`,
    { code: "dependency_not_found", says: "no-such-thing" },
  ],
  [
    "the same as older versions of uv print it",
    `  × No solution found when resolving dependencies:
  ╰─▶ Because no-such-thing was not found in the package registry and you
      require no-such-thing, we can conclude that your requirements are
      unsatisfiable.`,
    { code: "dependency_not_found", says: "no-such-thing" },
  ],
  [
    "a version that does not exist",
    `error: No solution found when resolving dependencies
  cause: Because there is no version of fastmcp==99.9 and you require fastmcp==99.9, we can conclude that your requirements are unsatisfiable.`,
    { code: "dependency_not_found", says: "fastmcp==99.9" },
  ],
  [
    "a version newer than any",
    `error: No solution found when resolving dependencies
  cause: Because only numpy<=2.5.5 is available and you require numpy>=99, we can conclude that your requirements are unsatisfiable.`,
    { code: "dependency_not_found", says: "numpy>=99" },
  ],
  [
    "no wheel for this Python",
    `error: No solution found when resolving dependencies
  cause: Because tensorflow==2.11.0 has no wheels with a matching Python ABI tag (e.g., \`cp311\`) and you require tensorflow==2.11.0, we can conclude that your requirements are unsatisfiable.

hint: You require CPython 3.11 (\`cp311\`), but we only found wheels for \`tensorflow\` (v2.11.0) with the following Python ABI tags: \`cp37m\`, \`cp38\``,
    { code: "dependency_conflict", says: "tensorflow==2.11.0 does not support Python 3.11.7" },
  ],
  [
    "a package for another system",
    `error: No solution found when resolving dependencies
  cause: Because pywin32==306 has no wheels with a matching platform tag (e.g., \`manylinux_2_36_x86_64\`) and you require pywin32==306, we can conclude that your requirements are unsatisfiable.`,
    { code: "dependency_conflict", says: "pywin32==306 does not run on this platform" },
  ],
  [
    "conflicting requirements",
    `error: No solution found when resolving dependencies
  cause: Because fastmcp-slim[client]==4.1.6 depends on starlette>=1.0.1 and fastmcp>=4.1.6 depends on fastmcp-slim[client]==4.1.6, we can conclude that fastmcp>=4.1.6 depends on starlette>=1.0.1.
         And because a depends on starlette<0.20 and fastmcp>=4, we can conclude that your requirements are unsatisfiable.`,
    { code: "dependency_conflict" },
  ],
  [
    "a line that is not a requirement",
    `error: Couldn't parse requirement in \`/app/src/deps/r5.in\` at position 0
  cause: Expected one of \`@\`, \`(\`, \`<\`, \`=\`, \`>\`, \`~\`, \`!\`, \`;\`, found \`a\`
         not a valid req!!`,
    { code: "invalid_project_file", file: "r5.in" },
  ],
  [
    "an included file that does not exist",
    `error: Error parsing included file in \`/app/src/r10.in\` at position 0
  cause: failed to read from file \`/app/src/missing.txt\`: No such file or directory (os error 2)`,
    { code: "requirements_not_found", file: "r10.in" },
  ],
  [
    "a directory that does not exist",
    "error: Distribution not found at: file:///app/src/local",
    { code: "requirements_not_found", says: "`requirements.txt` points to `local`, which the commit doesn't have" },
  ],
  [
    "a dependency that needs another Python than the project says",
    `error: No solution found when resolving dependencies
  cause: Because the current Python version (3.11.7) does not satisfy Python>=3.13,<3.15 and ha-mcp==8.7.0 depends on Python>=3.13,<3.15, we can conclude that ha-mcp==8.7.0 cannot be used.
         And because only ha-mcp<=8.7.0 is available and run-ha-mcp depends on ha-mcp==8.7.0, we can conclude that your requirements are unsatisfiable.`,
    { code: "python_unavailable", says: "ha-mcp==8.7.0 requires Python >=3.13,<3.15" },
  ],
  [
    "an index that refuses connections",
    `error: Request failed after 3 retries in 9.3s
  cause: Failed to fetch: http://127.0.0.1:9/simple/fastmcp/
  cause: error sending request for url (http://127.0.0.1:9/simple/fastmcp/)
  cause: tcp connect error
  cause: Connection refused (os error 111)`,
    { code: "index_unreachable" },
  ],
  [
    "an index whose name does not resolve",
    `error: Request failed after 3 retries in 8.3s
  cause: Failed to fetch: https://nope.invalid/simple/fastmcp/
  cause: dns error
  cause: failed to lookup address information: Name or service not known`,
    { code: "index_unreachable" },
  ],
  [
    "a build script that fails",
    `error: The build backend returned an error
  cause: Call to \`setuptools.build_meta:__legacy__.get_requires_for_build_wheel\` failed (exit status: 1)

         [stderr]
         Traceback (most recent call last):
           File "<string>", line 1, in <module>
         RuntimeError: needs libfoo-dev`,
    { code: "dependency_build_failed" },
  ],
  [
    "a file that the index lists and refuses",
    `error: Failed to download \`certifi==2026.10.19\`
  cause: Failed to fetch: https://files.example/certifi-2026.10.19-py3-none-any.whl
  cause: HTTP status client error (403 Forbidden) for url (https://files.example/certifi-2026.10.19-py3-none-any.whl)`,
    { code: "dependency_not_found", says: "certifi==2026.10.19" },
  ],
  [
    "a requirement of a requirement that doesn't exist",
    `error: No solution found when resolving dependencies
  cause: Because only certifi<=2026.10.18 is available and markitdown>=0.1.9 depends on certifi>=2026.10.19, we can conclude that markitdown>=0.1.9 cannot be used.
         And because markitdown-mcp==0.0.1a8 depends on markitdown[all]>=0.1.9, we can conclude that your requirements are unsatisfiable.`,
    {
      code: "dependency_not_found",
      says: "`markitdown>=0.1.9`, on which the project depends, requires `certifi>=2026.10.19`",
    },
  ],
  [
    "an unreachable Git repository",
    `error: Git operation failed
  cause: failed to clone into: /cache/uv/git-v1/db/e73903061316b372
  cause: process didn't exit successfully: \`/usr/bin/git fetch --force --update-head-ok 'https://github.com/foo/bar' '+HEAD:refs/remotes/origin/HEAD'\` (exit status: 128)
         --- stderr
         fatal: unable to access 'https://github.com/foo/bar/': Could not resolve host: github.com`,
    {
      code: "dependency_not_found",
      says: "`https://github.com/foo/bar`. Builds on this platform don't reach github.com. Git says: unable to access 'https://github.com/foo/bar/': Could not resolve host: github.com.",
    },
  ],
  [
    "a Git repository without the branch",
    `error: Failed to download and build \`x @ git+https://git.example/x@nope\`
  cause: Git operation failed
  cause: failed to clone into: /cache/uv/git-v1/db/86ec15144821e4bf
  cause: failed to fetch branch or tag \`nope\`
  cause: process didn't exit successfully: \`/usr/bin/git fetch --force --update-head-ok 'https://git.example/x' '+refs/tags/nope:refs/remotes/origin/tags/nope'\` (exit status: 128)
         --- stderr
         fatal: couldn't find remote ref refs/tags/nope`,
    { code: "dependency_not_found", says: "the branch, tag or commit `nope` of `https://git.example/x`" },
  ],
  [
    "a private Git repository, of which uv names the host only",
    `error: Git operation failed
  cause: failed to clone into: /cache/uv/git-v1/db/86ec15144821e4bf
         --- stderr
         remote: Repository does not exist, or you may not read it.
         fatal: could not read Username for 'https://git.example': terminal prompts disabled`,
    {
      code: "dependency_not_found",
      says: "`https://git.example`, which doesn't exist, or requires a password. Git says: Repository does not exist, or you may not read it.",
    },
  ],
  [
    "a lock of a newer uv",
    "error: The lockfile at `uv.lock` uses an unsupported schema version (v9, but only v1 is supported). Downgrade to a compatible uv version, or remove the `uv.lock` prior to running `uv lock` or `uv sync`.",
    { code: "lock_outdated", file: "uv.lock" },
  ],
  [
    "a lock that must be updated",
    "error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.",
    { code: "lock_outdated", file: "uv.lock" },
  ],
  [
    "a lock that cannot be parsed",
    `error: Failed to parse \`uv.lock\`
  cause: TOML parse error at line 1, column 8`,
    { code: "lock_outdated", file: "uv.lock" },
  ],
  [
    "a lock for another Python",
    "error: The current Python version (3.11.7) is not compatible with the locked Python requirement: `>=3.14`",
    { code: "python_unavailable", file: "uv.lock", says: ">=3.14" },
  ],
  [
    "a pyproject.toml that cannot be parsed",
    `error: Failed to parse: /app/src/pyproject.toml
  cause: Invalid \`pyproject.toml\`
  cause: TOML parse error at line 5, column 24`,
    { code: "invalid_project_file", file: "pyproject.toml" },
  ],
  ["an unknown error", "error: the moon is full", { code: "dependency_build_failed" }],
  ["no output", "", { code: "dependency_build_failed" }],
])("BLD-2 uv's output becomes a diagnosis: %s", (_what, output, expected) => {
  const found = diagnoseUv(output, context);
  expect(found).toMatchObject({ code: expected.code, phase: "install", file: expected.file ?? "requirements.txt" });
  expect(`${found.title} ${found.detail}`).toContain(expected.says ?? "");
  for (const part of [found.title, found.detail, found.remedy]) expect(part).not.toBe("");
  if (output !== "") expect(found.excerpt).toContain(output.trim().split("\n")[0]?.trim());
});

test.each([
  [
    "that the commit lacks",
    "error: Distribution not found at: file:///app/src/libs/shared%20code",
    "`[tool.uv.sources]` of `pyproject.toml` points to `libs/shared code`, which the commit doesn't have",
    "Commit it (it may be ignored by Git, or a submodule), correct the path in `[tool.uv.sources]`, or remove the entry",
  ],
  [
    "beside the repository",
    "error: Distribution not found at: file:///app/shared",
    "points to `../shared`, which a build can't read",
    "Move it into the repository",
  ],
  ["of a machine", "error: Distribution not found at: file:///srv/shared", "points to `/srv/shared`", "Move it into"],
  [
    "without a project",
    "error: Failed to build `shared @ file:///app/src/libs`\n  cause: `/app/src/libs` does not appear to be a Python project, as neither `pyproject.toml` nor `setup.py` are present in the directory",
    "points to `libs`, which has neither",
    "correct the path in `[tool.uv.sources]`",
  ],
  [
    "of a workspace without it",
    "error: Failed to parse entry: `shared`\n  cause: `shared` references a workspace in `tool.uv.sources` (e.g., `shared = { workspace = true }`), but is not a workspace member",
    "`shared = { workspace = true }`",
    "root directory under Settings",
  ],
])("BLD-2 the path of a dependency is named, and the table that has it: one %s", (_what, output, says, remedy) => {
  const found = diagnoseUv(output, { file: "pyproject.toml", pythonVersion: "3.11.7" });
  expect(found.detail).toContain(says);
  expect(found.remedy).toContain(remedy);
});

const backend = (stderr: string) => `  cause: The build backend returned an error
  cause: Call to \`setuptools.build_meta.build_wheel\` failed (exit status: 1)

         [stderr]
${stderr.replaceAll(/^/gm, "         ")}`;

test.each<{
  what: string;
  output: string;
  title: string;
  detail: string;
  remedy: string;
  requirers?: [string, string];
}>([
  {
    what: "for a program that its build runs, with the package that requires it",
    output: `error: Failed to build \`mysqlclient==2.1.1\`\n${backend("/bin/sh: 1: mysql_config: not found\nOSError: mysql_config not found")}`,
    requirers: ["mysqlclient", "query-runner"],
    title: "Building mysqlclient 2.1.1 needs the program `mysql_config`",
    detail: "`query-runner`, on which the project depends, requires `mysqlclient`",
    remedy:
      "the Debian package `default-libmysqlclient-dev` on this host. Or in `pyproject.toml`, require another release of `query-runner`",
  },
  {
    what: "for a header, with the package that requires it by the lock",
    output: `error: Failed to build \`pyaudio==0.2.14\`\n${backend("src/main.c:1:10: fatal error: portaudio.h: No such file or directory\nerror: command '/usr/bin/gcc' failed with exit code 1")}\n\nhint: \`pyaudio\` (v0.2.14) was included because \`voice\` (v0.1.0) depends on \`sounds\` (v2) which depends on \`pyaudio\``,
    title: "Building pyaudio 0.2.14 needs the header `portaudio.h`",
    detail: "`sounds`, on which the project depends, requires `pyaudio`",
    remedy: "`portaudio19-dev`",
  },
  {
    what: "for a library of which pkg-config knows nothing",
    output: `error: Failed to build \`pygobject==3.50.0\`\n${backend("../meson.build:30:0: ERROR: Dependency lookup for girepository-2.0 with method 'pkgconfig' failed")}`,
    title: "Building pygobject 3.50.0 needs the library `girepository-2.0`",
    detail: "`pyproject.toml` requires `pygobject`",
    remedy: "`libgirepository-2.0-dev`",
  },
  {
    what: "for a compiler that nothing else than its name is known of",
    output: `error: Failed to build \`odd==1\`\n${backend("error: command 'oddcc' failed: No such file or directory")}`,
    title: "Building odd 1 needs the program `oddcc`",
    detail: "it runs `oddcc`, which isn't installed",
    remedy: "Ask the operator to install the program `oddcc` on this host. Or require a release that has a wheel",
  },
  {
    what: "of the project itself",
    output: `error: Failed to build \`graphs @ file:///app/src\`\n${backend("Rust not found, installing into a temporary directory")}`,
    title: "Building graphs needs a Rust compiler",
    detail: "The project has to be built before it can be installed. That failed",
    remedy: "`pypi:graphs`",
  },
  {
    what: "for what its own code says only, where another variant has wheels",
    output: `error: Failed to build \`psycopg2==2.9\`\n${backend("RuntimeError: no")}`,
    title: "psycopg2 2.9 couldn't be built",
    detail: "`pyproject.toml` requires `psycopg2`, which has no wheel for Python 3.11.7 on Linux",
    remedy: "Require `psycopg2-binary` instead.",
  },
])("BLD-2 a package that can't be built is named, and what it lacks $what", ({ output, requirers, ...says }) => {
  const known = new Map(requirers && [[requirers[0], [requirers[1]]]]);
  const found = diagnoseUv(output, { file: "pyproject.toml", pythonVersion: "3.11.7", requirers: known });
  expect(found).toMatchObject({ code: "dependency_build_failed", title: says.title });
  expect(found.detail).toContain(says.detail);
  expect(found.remedy).toContain(says.remedy);
  const forUsers = failureOfPackage(found);
  expect(forUsers.remedy).toMatch(
    says.title.includes("needs") ? /^Ask the operator to install .* Or choose another version/ : /^Choose another/,
  );
});

test.each([
  "error: Failed to download and build `logging==0.4.9.6`\n  cause: Failed to extract archive: logging==0.4.9.6\n  cause: Invalid tar file",
  "error: No solution found when resolving dependencies\n  cause: Because logging was not found in the package registry and you require logging, we can conclude that your requirements are unsatisfiable.",
])(
  "BLD-2 a requirement that is a module of Python is reported as such, even if the index has a package of that name (%#)",
  (output) => {
    const found = diagnoseUv(output, { file: "pyproject.toml", pythonVersion: "3.11.7" });
    expect(found.title).toBe("logging is a part of Python, not a package to install");
    expect(found.remedy).toMatch(/^Remove `logging` from `pyproject.toml`/);
  },
);
