import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSourceText } from "./source-text.schema.ts";

const git = (url: string, more: { branch?: string; directory?: string; name?: string } = {}) => ({
  source: { kind: "git", url, branch: null, directory: null, name: "echo", ...more },
});

const time = (version: string | null = null) => ({ source: { kind: "package", name: "mcp-server-time", version } });
const sha = "0123456789abcdef0123456789abcdef01234567";

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
    "https://example.com/forge/acme/echo/src/branch/main/src/tag",
    git("https://example.com/forge/acme/echo", { branch: "main", directory: "src/tag" }),
  ],
  [
    "https://github.com/acme/echo/tree/main/src/branch",
    git("https://github.com/acme/echo", { branch: "main", directory: "src/branch" }),
  ],
  [
    "https://bitbucket.org/acme/echo/src/main/server/",
    git("https://bitbucket.org/acme/echo", { branch: "main", directory: "server" }),
  ],
  ["git@github.com:acme/echo.git", git("ssh://git@github.com/acme/echo.git")],
  ["ssh://git@example.com:2222/acme/echo.git", git("ssh://git@example.com:2222/acme/echo.git")],
  // Not every host's SSH server calls its user git.
  ["ssh://gitea@example.com:2222/acme/echo.git", git("ssh://gitea@example.com:2222/acme/echo.git")],
  ["forgejo@example.com:acme/echo.git", git("ssh://forgejo@example.com/acme/echo.git")],
  ["http://localhost:3000/acme/echo.git", git("http://localhost:3000/acme/echo.git")],
  ["git clone https://example.com/echo.git", git("https://example.com/echo.git")],
  [
    "git clone -b dev --depth 1 git@example.com:echo.git here",
    git("ssh://git@example.com/echo.git", { branch: "dev" }),
  ],
  ["pip install git+https://github.com/acme/echo", git("https://github.com/acme/echo")],
  [
    "pip install -U 'git+https://github.com/acme/echo@feature/x#egg=echo&subdirectory=servers/one'",
    git("https://github.com/acme/echo", { branch: "feature/x", directory: "servers/one" }),
  ],
  [`uv add "echo @ git+https://github.com/acme/echo@${sha}"`, git("https://github.com/acme/echo")],
  ["git+ssh://git@example.com/acme/echo.git@main", git("ssh://git@example.com/acme/echo.git", { branch: "main" })],
  ["uvx --python 3.12 --from git+https://example.com/a/echo echo --port 1", git("https://example.com/a/echo")],
  ["$ gh repo clone acme/echo -- --depth 1", git("https://github.com/acme/echo")],
  [`https://github.com/acme/echo/blob/${sha}/a/b.py#L3`, git("https://github.com/acme/echo", { directory: "a" })],
  ["https://gitlab.com/g/s/t/echo/-/blob/main/server.py", git("https://gitlab.com/g/s/t/echo", { branch: "main" })],
  [
    "https://gitlab.example/g/s/echo/-/tree/fix/servers?ref_type=heads",
    git("https://gitlab.example/g/s/echo", { branch: "fix", directory: "servers" }),
  ],
  ["https://gitlab.com/g/s/echo/-/merge_requests/3", git("https://gitlab.com/g/s/echo")],
  ["https://codeberg.org/acme/echo/src/tag/v1/server", git("https://codeberg.org/acme/echo", { directory: "server" })],
  [
    `https://bitbucket.org/acme/echo/src/${sha}/server/?at=fix%2Fone`,
    git("https://bitbucket.org/acme/echo", { branch: "fix/one", directory: "server" }),
  ],
  ["https://bitbucket.org/acme/echo/branch/dev", git("https://bitbucket.org/acme/echo", { branch: "dev" })],
  [
    "https://bitbucket.example/projects/ACME/repos/echo/browse/server?at=refs%2Fheads%2Fmain",
    git("https://bitbucket.example/scm/acme/echo.git", { branch: "main", directory: "server" }),
  ],
  ["pypi:mcp-server-time", time()],
  ["pypi:mcp-server-time==1.2", time("1.2")],
  ["https://pypi.org/project/mcp-server-time/", time()],
  ["uvx mcp-server-time@latest", time()],
  ["pip install --upgrade mcp-server-time", time()],
  ["pip install 'mcp-server-time[cli]==1.0'", time("1.0")],
  ['uv add "mcp-server-time>=1.0; python_version > 3"', time()],
  ["uvx --from mcp-server-time==1.2 server --timezone=UTC", time("1.2")],
  ["uvx --with httpx mcp-server-time --timezone UTC", time()],
  ["pipx run --spec=mcp-server-time server", time()],
  ["uv run --with mcp-server-time mcp-server-time", time()],
  ["python3 -m pip install -i https://index.example/simple mcp-server-time", time()],
  ["registry:weather", { source: { kind: "registry", search: "weather" } }],
  ["io.github.acme/echo", { source: { kind: "registry", search: "io.github.acme/echo" } }],
  ["de.acme/weather", { source: { kind: "registry", search: "de.acme/weather" } }],
  ["cloud.acme/weather", { source: { kind: "registry", search: "cloud.acme/weather" } }],
  ["my.company.com/echo", git("https://my.company.com/echo")],
  ["de.acme/echo.git", git("https://de.acme/echo.git")],
])("SRC-2 %s is understood as what it names", (text, expected) => {
  expect(parseSourceText(text)).toEqual(expected);
});

test.each([
  ["", /Paste a repository's URL/],
  ["echo", /write pypi:echo for the package, registry:echo/],
  ["?!", /no repository, package or registry entry/],
  ["https://github.com", /no repository of it/],
  ["ftp://example.com/acme/echo", /https:\/\/ or ssh:\/\//],
  ["file:///etc", /https:\/\/ or ssh:\/\//],
  ["pypi:-x", /pypi:NAME/],
  ["registry:", /registry: and the server's name/],
  ["some words here", /several words/],
  ["https://github.com/acme?tab=repositories", /an account or group of github\.com.*github\.com\/acme\/REPOSITORY/],
  ["https://github.com/orgs/acme", /github\.com\/acme\/REPOSITORY/],
  ["https://gitlab.com/acme", /an account or group of gitlab\.com/],
  ["pip install -r requirements.txt", /list of requirements/],
  ["pip install -e .", /directory of your machine/],
  ["uv add mcp httpx", /several packages/],
  ["pip install 'mcp-server-time>=1,<2'", /pypi:mcp-server-time==VERSION/],
  ["uvx", /no package/],
])("SRC-2 %j says what to paste instead", (text, problem) => {
  expect(parseSourceText(text)).toEqual({ problem: expect.stringMatching(problem) });
});

test("SRC-2 a password in a URL is refused and not repeated", () => {
  const urls = [
    "https://me:hunter2@example.com/echo",
    "https://hunter2@example.com/echo",
    "ssh://me:hunter2@a.example/b",
  ];
  for (const text of urls) {
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
    "src",
    "-",
    "git+",
    "pip install ",
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
