import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { NewestCommit } from "./server-deploy-page.tsx";

test("ONB-5 the form shows the repository's newest commit, with a space after the branch", () => {
  const repository = { full_name: "ada/tide", private: false, default_branch: "main" };
  const text = (branch: Parameters<typeof NewestCommit>[0]["branch"]) =>
    renderToStaticMarkup(<NewestCommit repository={repository} branch={branch} />).replaceAll(/<[^>]+>/g, "");
  expect(text(null)).toBe("main Nothing has been pushed yet. The first push starts a build.");
  const commit = { sha: "0123456789abcdef", message: "Add gusts\n\nIn knots." };
  expect(text({ name: "main", commit } as Parameters<typeof text>[0])).toBe("main 0123456 Add gusts");
});
