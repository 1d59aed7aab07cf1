import { expect, test } from "vitest";
import { codePages, hostKindOf, pageOf, settingsPage } from "./host-pages.ts";

const pagesOf = (url: string) => codePages(pageOf(url), hostKindOf(new URL(url).hostname));

test("BLD-2 the line that a failed build names is linked at the build's commit", () => {
  const { file } = codePages("https://github.com/acme/echo", "github");
  expect(file({ sha: "abc", path: "src/my server.py", line: 4 })).toBe(
    "https://github.com/acme/echo/blob/abc/src/my%20server.py#L4",
  );
  expect(file({ sha: "abc", path: "a#b.py", line: null })).toBe("https://github.com/acme/echo/blob/abc/a%23b.py");
});

test.each([
  [
    "https://github.com/acme/echo.git",
    "https://github.com/acme/echo/commit/abc",
    "https://github.com/acme/echo/tree/fix/it",
  ],
  ["ssh://git@gitlab.com/a/b/c", "https://gitlab.com/a/b/c/-/commit/abc", "https://gitlab.com/a/b/c/-/tree/fix/it"],
  ["https://bitbucket.org/a/b", "https://bitbucket.org/a/b/commits/abc", "https://bitbucket.org/a/b/src/fix/it"],
  ["https://codeberg.org/a/b", "https://codeberg.org/a/b/commit/abc", "https://codeberg.org/a/b/src/branch/fix/it"],
])("SRC-1 commits and branches of %s are linked at their host", (url, commit, branch) => {
  const pages = pagesOf(url);
  expect([pages.commit("abc"), pages.branch("fix/it")]).toEqual([commit, branch]);
});

test("SRC-1 for an unknown host only the repository's page is linked, and for SSH nothing", () => {
  const pages = pagesOf("https://git.example.com:8443/team/echo.git");
  expect(pages.home).toBe("https://git.example.com:8443/team/echo");
  expect([pages.commit("abc"), pages.branch("main"), pages.file({ sha: "abc", path: "a.py", line: 1 })]).toEqual([
    null,
    null,
    null,
  ]);
  expect(pagesOf("ssh://git@git.example.com/team/echo").home).toBeNull();
  expect(settingsPage("https://git.example.com/team/echo", "webhook")).toBeNull();
});

test("SRC-2 deploy keys, tokens and webhooks are made on pages of the host", () => {
  const url = "https://gitlab.com/acme/tools/echo.git";
  expect(settingsPage(url, "deployKey")).toBe("https://gitlab.com/acme/tools/echo/-/settings/repository");
  expect(settingsPage("ssh://git@github.com/acme/echo", "token")).toBe(
    "https://github.com/settings/personal-access-tokens/new",
  );
});
