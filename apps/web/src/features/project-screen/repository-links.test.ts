import { expect, test } from "vitest";
import { codeUrl } from "./repository-links.tsx";

test("BLD-2 the line that a failed build names is linked at the build's commit", () => {
  const repository = "https://github.com/acme/echo";
  expect(codeUrl(repository, { sha: "abc", path: "src/my server.py", line: 4 })).toBe(
    "https://github.com/acme/echo/blob/abc/src/my%20server.py#L4",
  );
  expect(codeUrl(repository, { sha: "abc", path: "a#b.py", line: null })).toBe(
    "https://github.com/acme/echo/blob/abc/a%23b.py",
  );
});
