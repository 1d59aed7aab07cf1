import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSourceText } from "./source-text.schema.ts";

const git = (url: string, more: { branch?: string; directory?: string; name?: string } = {}) => ({
  source: { kind: "git", url, branch: null, directory: null, name: "echo", ...more },
});

test.each([
  ["https://github.com/acme/echo", git("https://github.com/acme/echo")],
  [" https://github.com/acme/echo.git/ ", git("https://github.com/acme/echo.git")],
  ["acme/echo", git("https://github.com/acme/echo")],
  ["github.com/acme/echo", git("https://github.com/acme/echo")],
  ["https://github.com/acme/echo/issues/3?q=1#top", git("https://github.com/acme/echo")],
  ["https://github.com/acme/echo/tree/main", git("https://github.com/acme/echo", { branch: "main" })],
  [
    "https://github.com/acme/echo/tree/fix/servers/one",
    git("https://github.com/acme/echo", { branch: "fix", directory: "servers/one" }),
  ],
  [
    "https://github.com/acme/echo/blob/main/servers/one/server.py",
    git("https://github.com/acme/echo", { branch: "main", directory: "servers/one" }),
  ],
  [
    "https://gitlab.com/group/sub/echo/-/tree/main/server",
    git("https://gitlab.com/group/sub/echo", { branch: "main", directory: "server" }),
  ],
  ["https://gitlab.com/group/sub/echo", git("https://gitlab.com/group/sub/echo")],
  [
    "https://codeberg.org/acme/echo/src/branch/main/server",
    git("https://codeberg.org/acme/echo", { branch: "main", directory: "server" }),
  ],
  [
    "https://bitbucket.org/acme/echo/src/main/server/",
    git("https://bitbucket.org/acme/echo", { branch: "main", directory: "server" }),
  ],
  ["git@github.com:acme/echo.git", git("ssh://git@github.com/acme/echo.git")],
  ["ssh://git@example.com:2222/acme/echo.git", git("ssh://git@example.com:2222/acme/echo.git")],
  ["http://localhost:3000/acme/echo.git", git("http://localhost:3000/acme/echo.git")],
  ["git clone https://example.com/echo.git", git("https://example.com/echo.git")],
  [
    "git clone -b dev --depth 1 git@example.com:echo.git here",
    git("ssh://git@example.com/echo.git", { branch: "dev" }),
  ],
  ["pip install git+https://github.com/acme/echo", git("https://github.com/acme/echo")],
  ["pypi:mcp-server-time", { source: { kind: "package", name: "mcp-server-time", version: null } }],
  ["pypi:mcp-server-time==1.2", { source: { kind: "package", name: "mcp-server-time", version: "1.2" } }],
  [
    "https://pypi.org/project/mcp-server-time/",
    { source: { kind: "package", name: "mcp-server-time", version: null } },
  ],
  ["uvx mcp-server-time@latest", { source: { kind: "package", name: "mcp-server-time", version: null } }],
  ["pip install --upgrade mcp-server-time", { source: { kind: "package", name: "mcp-server-time", version: null } }],
  ["registry:weather", { source: { kind: "registry", search: "weather" } }],
  ["io.github.acme/echo", { source: { kind: "registry", search: "io.github.acme/echo" } }],
])("SRC-2 %s is understood as what it names", (text, expected) => {
  expect(parseSourceText(text)).toEqual(expected);
});

test.each([
  ["", /Paste a repository's URL/],
  ["echo", /no repository, package or registry entry/],
  ["https://github.com", /no repository of it/],
  ["ftp://example.com/acme/echo", /https:\/\/ or ssh:\/\//],
  ["file:///etc", /https:\/\/ or ssh:\/\//],
  ["pypi:-x", /pypi:NAME/],
  ["registry:", /registry: and the server's name/],
  ["some words here", /several words/],
])("SRC-2 %j says what to paste instead", (text, problem) => {
  expect(parseSourceText(text)).toEqual({ problem: expect.stringMatching(problem) });
});

test("SRC-2 a password in a URL is refused and not repeated", () => {
  for (const text of ["https://me:hunter2@example.com/echo", "https://hunter2@example.com/echo"]) {
    const parsed = parseSourceText(text);
    expect(parsed).toEqual({ problem: expect.stringContaining("add a token instead") });
    expect(JSON.stringify(parsed)).not.toContain("hunter2");
  }
});

test("SRC-2 no text makes it throw, and no URL that it finds has a password, query or fragment", () => {
  const parts = fc.constantFrom(
    "https://",
    "git@",
    "github.com",
    "/",
    ":",
    "a",
    "..",
    "tree",
    "%zz",
    "?q",
    "#f",
    " ",
    "@",
  );
  const texts = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.array(parts, { maxLength: 12 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseSourceText(text);
      if ("problem" in parsed || parsed.source.kind !== "git") return;
      const { password, search, hash } = new URL(parsed.source.url);
      expect([password, search, hash]).toEqual(["", "", ""]);
    }),
    { numRuns: 3_000 },
  );
});
