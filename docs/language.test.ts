import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findAvoidedWords, problemsOfSubject } from "./language.ts";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);
const git = async (...args: string[]) => {
  const { stdout } = await run("git", ["-C", root, ...args], { maxBuffer: 1 << 26 });
  return stdout.trim().split("\n").filter(Boolean);
};
const isCheckout = await git("rev-parse", "HEAD").then(
  () => true,
  () => false,
);

/** Decisions are records, which aren't rewritten. */
const isChecked = (path: string) => !path.startsWith("docs/decisions/") && !/^docs\/language(\.test)?\.ts$/.test(path);

test("words are found in names and in prose, with their line and what to write", () => {
  expect(findAvoidedWords("const toldOf = 1;\n// What was heard.\nconst untold = 2; // besides ACME_TOLD")).toEqual([
    '1: "told": write shown, notified, informed, passed',
    '2: "heard": write received, learned',
    '3: "told": write shown, notified, informed, passed',
    '3: "besides": write also, as well',
  ]);
});

test("a team is an organization, unless a text quotes the specification or means people", () => {
  const kept = ["search.teamId", "You are not a member of this team", "name: The Towpath team", "Invite teammates"];
  expect(findAvoidedWords(kept.join("\n"))).toEqual([]);
  expect(findAvoidedWords("let team: Seeded;\nconst ofTeam = 1;\n// Other teams' servers.")).toEqual([
    '1: "team": write organization',
    '2: "team": write organization',
    '3: "teams": write organizations',
  ]);
});

test("subjects of commits are imperative, short, and use the same words", () => {
  for (const subject of ["Add a page", "Bring back a page", "Pass a page", "Merge branch 'a'"])
    expect(problemsOfSubject(subject)).toEqual([]);
  for (const subject of ["Tests: a page", "Added a page", "Adding a page", "Adds a page", "add a page", "Add a page."])
    expect(problemsOfSubject(subject)).toHaveLength(1);
  expect(problemsOfSubject(`Add ${"a".repeat(80)} that is told`)).toHaveLength(2);
});

test.runIf(isCheckout)("code, comments, tests and documents have none of the avoided words", async () => {
  const files = await git("ls-files", "*.ts", "*.tsx", "*.js", "*.cjs", "*.py", "*.sh", "*.css", "*.md", "towpath");
  const found = await Promise.all(
    files.filter(isChecked).map(async (path) => {
      const text = await readFile(join(root, path), "utf8").catch(() => "");
      return findAvoidedWords(text).map((message) => `${path}:${message}`);
    }),
  );
  expect(files.length).toBeGreaterThan(1000);
  expect(found.flat()).toEqual([]);
});

test.runIf(isCheckout)(
  "objects aren't grouped by literals that are spread, which hides mistyped properties",
  async () => {
    const files = await git("ls-files", "*.ts", "*.tsx");
    const found = await Promise.all(
      files.map(async (path) => {
        const text = await readFile(join(root, path), "utf8").catch(() => "");
        return text.split("\n").flatMap((line, at) => (/\.\.\.\{ ?\w+[,:]/.test(line) ? [`${path}:${at + 1}`] : []));
      }),
    );
    // React's types lack the attribute by which a person chooses a folder.
    expect(found.flat()).toEqual([expect.stringMatching(/upload\/drop-zone\.tsx/)]);
  },
);

/** The last commit before subjects were checked for all words of the list. */
const checkedSince = "3ff51e92";

test.runIf(isCheckout)("subjects of new commits are imperative and short", async () => {
  const subjects = await git("log", "--format=%s", `${checkedSince}..HEAD`).catch(() => []);
  expect(subjects.flatMap((subject) => problemsOfSubject(subject).map((problem) => `${subject}: ${problem}`))).toEqual(
    [],
  );
});
