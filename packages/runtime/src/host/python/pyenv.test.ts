import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pathWithPyenv } from "./pyenv.ts";

function pyenv(versions: readonly string[], global: string | null): string {
  const root = mkdtempSync(join(tmpdir(), "towpath-pyenv-"));
  for (const version of versions) mkdirSync(join(root, "versions", version, "bin"), { recursive: true });
  if (global !== null) writeFileSync(join(root, "version"), `${global}\n`);
  return root;
}

test("BLD-18 pyenv's Pythons are searched themselves: global ones in place of the shims, the others last", () => {
  const root = pyenv(["3.9.18", "3.10.13", "3.11.7", "3.13.0", "2.7.18", "pypy3.10-7.3.12", "3.14.0rc1"], "3.11.7");
  const bin = (version: string) => join(root, "versions", version, "bin");
  const path = `/first:${root}/shims:/usr/bin`;
  expect(pathWithPyenv({ PATH: path, PYENV_ROOT: root })).toBe(
    ["/first", bin("3.11.7"), "/usr/bin", bin("3.13.0"), bin("3.10.13")].join(":"),
  );
  // As in pyenv, the variable comes before the file.
  expect(pathWithPyenv({ PATH: path, PYENV_ROOT: root, PYENV_VERSION: "3.13.0:3.12.1" })).toBe(
    ["/first", bin("3.13.0"), "/usr/bin", bin("3.11.7"), bin("3.10.13")].join(":"),
  );
  // A service that was started without the shell's set-up.
  expect(pathWithPyenv({ PATH: "/usr/bin", PYENV_ROOT: root })).toBe(
    ["/usr/bin", bin("3.13.0"), bin("3.11.7"), bin("3.10.13")].join(":"),
  );
});

test("without pyenv the search path stays as it is", () => {
  expect(pathWithPyenv({ PATH: "/usr/bin:/bin", HOME: "/nowhere" })).toBe("/usr/bin:/bin");
  expect(pathWithPyenv({ PATH: "/usr/bin" })).toBe("/usr/bin");
});
