import { expect, test } from "vitest";
import { nextVersionText } from "./live-version.ts";

test("PRJ-14 after a rollback it says what comes next: a push, an approval, or a version of the package", () => {
  const commit = { packageVersion: null };
  expect(nextVersionText(commit, "main")).toBe("The next push to main goes live as usual.");
  expect(nextVersionText(commit, "pull:7")).toBe("The next push to the pull request waits for approval as usual.");
  expect(nextVersionText({ packageVersion: "1.2" }, "main")).toBe(
    "The next version that is deployed goes live as usual.",
  );
});
