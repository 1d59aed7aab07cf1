import { expect, test } from "vitest";
import {
  changesOf,
  conflictsOf,
  defaultMessage,
  emptyDraft,
  fileOf,
  markOf,
  parseDraft,
  pathProblem,
  rebased,
  renamed,
  resolvedWithOwn,
  shownPaths,
  withoutChange,
  withoutCommitted,
  withText,
} from "./draft.ts";

const start = emptyDraft("one");

test("CAP-5 a file is changed while its text differs, and several become one commit", () => {
  const edited = withText(start, "server.py", "b", "a");
  expect(edited.files).toEqual({ "server.py": { base: "a", text: "b" } });
  expect(withText(edited, "server.py", "a", "ignored once changed")).toEqual(start);
  const several = withText(withText(edited, "old.py", null, "x"), "a/new.py", "", null);
  expect(changesOf(several)).toEqual([
    { path: "a/new.py", content: "" },
    { path: "old.py", content: null },
    { path: "server.py", content: "b" },
  ]);
  expect(Object.entries(several.files).map(([path, file]) => [path, markOf(file)])).toEqual([
    ["server.py", "changed"],
    ["old.py", "deleted"],
    ["a/new.py", "new"],
  ]);
  expect(shownPaths(["old.py", "server.py"], several)).toEqual(["a/new.py", "old.py", "server.py"]);
  // A new file that is deleted again was never there.
  expect(withoutChange(withText(several, "a/new.py", null, null), "old.py")).toEqual(edited);
});

test("CAP-5 a renamed file keeps its changes, and the message names what was done", () => {
  const moved = renamed(start, "a.py", "lib/b.py", "text");
  expect(moved.files).toEqual({ "a.py": { base: "text", text: null }, "lib/b.py": { base: null, text: "text" } });
  expect(renamed(withText(start, "a.py", "mine", "text"), "a.py", "b.py", "text").files["b.py"]?.text).toBe("mine");
  expect(renamed(moved, "lib/b.py", "c.py", null).files).toEqual({
    "a.py": { base: "text", text: null },
    "c.py": { base: null, text: "text" },
  });
  const update = withText(start, "lib/server.py", "b", "a");
  const both = withText(update, "README.md", "x", "y");
  for (const [draft, message] of [
    [start, ""],
    [moved, "Rename a.py to b.py"],
    [update, "Update server.py"],
    [withText(start, "x.py", "", null), "Add x.py"],
    [withText(start, "x.py", null, ""), "Delete x.py"],
    [both, "Update server.py and README.md"],
    [withText(both, "c", "1", "2"), "Update 3 files"],
  ] as const)
    expect(defaultMessage(draft)).toBe(message);
});

test("CAP-5 a draft goes on above newer commits; a file that they change too is a conflict until it is decided", () => {
  const draft = withText(withText(start, "mine.py", "m", "a"), "both.py", "m", "a");
  const above = rebased(draft, "two", { "mine.py": "a", "both.py": "t" });
  expect([above.sha, above.head, conflictsOf(above)]).toEqual(["one", "two", ["both.py"]]);
  expect(above.files["both.py"]).toEqual({ base: "a", text: "m", theirs: "t" });
  // Typing goes on, and even the text from before stays a conflict.
  expect(conflictsOf(withText(above, "both.py", "a", null))).toEqual(["both.py"]);
  const own = resolvedWithOwn(above, "both.py");
  expect([own.sha, own.files["both.py"]]).toEqual(["two", { base: "t", text: "m" }]);
  const theirs = withoutChange(above, "both.py");
  expect([theirs.sha, Object.keys(theirs.files)]).toEqual(["two", ["mine.py"]]);
  // The same change was made elsewhere; a deleted file is a conflict.
  expect(rebased(draft, "two", { "mine.py": "m" })).toMatchObject({
    files: { "both.py": { text: "m", theirs: null } },
  });
  expect(rebased(above, "three", { "mine.py": "a", "both.py": "a" })).toMatchObject({ sha: "three", head: "three" });
});

test("CAP-5 paths that no file can have, and stored drafts of another shape", () => {
  const paths = ["lib/a.py", "server.py"];
  for (const path of ["", "/a", "a/", "a//b", "../a", "./a", ".git/config", "server.py", "lib", "server.py/a"])
    expect([path, pathProblem(path, paths)]).toEqual([path, expect.any(String)]);
  for (const path of ["a.py", "lib/b.py", ".github/ci.yml", ".gitignore"]) expect(pathProblem(path, paths)).toBeNull();
  for (const stored of [null, "", "{", "null", "[]", '{"sha":"a"}', '{"sha":"a","head":"b","files":null}'])
    expect(parseDraft(stored)).toBeNull();
  expect(parseDraft(JSON.stringify(start))).toEqual(start);
});

test("CAP-5 a file may be named like a property of every object", () => {
  const start = emptyDraft("one");
  expect(["constructor", "toString", "__proto__"].map((path) => markOf(fileOf(start, path)))).toEqual([
    null,
    null,
    null,
  ]);
  const changed = withText(start, "constructor", "mine", "text");
  expect(markOf(fileOf(changed, "constructor"))).toBe("changed");
});

test("CAP-5 what is typed while a commit is made stays, on top of it", () => {
  const made = withText(withText(emptyDraft("one"), "a.py", "mine", "old"), "b.py", "mine", "old");
  const typed = withText(withText(made, "a.py", "more", "old"), "c.py", "new", null);
  const files = { "a.py": { base: "mine", text: "more" }, "c.py": { base: null, text: "new" } };
  expect(withoutCommitted(typed, made)).toEqual({ sha: "one", head: "one", files });
  // Compared with the commit already, it looks like a conflict.
  const compared = rebased(typed, "two", { "a.py": "mine", "b.py": "mine" });
  expect(conflictsOf(compared)).toEqual(["a.py"]);
  expect(withoutCommitted(compared, made)).toEqual({ sha: "two", head: "two", files });
});
