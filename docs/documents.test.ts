import { readdirSync, readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Names of settings in a text, without prefixes such as `UV_*` and abbreviated names. */
const settingsIn = (text: string) =>
  new Set([...text.matchAll(/\b(?:TOWPATH|GITHUB|DATABASE|KUBERNETES)_[A-Z_]*[A-Z]\b/g)].map(([name]) => name));

/** The keys of every process's settings schema. */
async function settingsOfTheProcesses(): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const file of glob("{apps,packages}/*/src/**/*config*.ts", { cwd: root })) {
    if (file.includes(".test.")) continue;
    for (const [, name] of read(file).matchAll(/^\s+([A-Z]+(?:_[A-Z]+)+):/gm)) names.add(name ?? "");
  }
  return names;
}

test("OPS-1 docs/configuration.md and docs/operating.md name every setting of the processes, and no other", async () => {
  const inCode = await settingsOfTheProcesses();
  const documented = settingsIn(`${read("docs/configuration.md")}${read("docs/operating.md")}`);
  expect(inCode.size).toBeGreaterThan(40);
  expect([...inCode].filter((name) => !documented.has(name))).toEqual([]);

  const source = new Set(inCode);
  for (const file of ["apps/cli/src/up/options.ts", "apps/cli/src/up/roles.ts"])
    for (const name of settingsIn(read(file))) source.add(name);
  expect([...documented].filter((name) => !source.has(name))).toEqual([]);
});

test("OPS-1 README.md and the other documents name only settings that exist", async () => {
  const documented = settingsIn(`${read("docs/configuration.md")}${read("docs/operating.md")}`);
  // Settings of a test stage.
  const known = new Set([...documented, "TOWPATH_CHAOS", "TOWPATH_CHAOS_TIMES"]);
  const named = ["README.md", "CHANGELOG.md", "SECURITY.md", "docs/retention.md"].map(read).join("\n");
  expect([...settingsIn(named)].filter((name) => !known.has(name))).toEqual([]);
});

test("decisions are numbered from 001 without a gap, and each has the four sections", () => {
  const decisions = readdirSync(join(root, "docs/decisions")).toSorted();
  const numbers = decisions.map((file) => file.slice(0, 3));
  expect(numbers).toEqual(decisions.map((_, index) => String(index + 1).padStart(3, "0")));
  const sections = ["Context", "Choice", "Consequences", "When to revisit"];
  for (const file of decisions) {
    const text = read(`docs/decisions/${file}`);
    expect(text, file).toMatch(new RegExp(`^# ${file.slice(0, 3)} \\S`));
    const found = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title ?? "");
    expect(
      found.filter((title) => sections.includes(title)),
      file,
    ).toEqual(sections);
  }
});

test("links between the documents lead to files and headings that exist", () => {
  const documents = [
    ...readdirSync(root).filter((file) => file.endsWith(".md")),
    ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => `docs/${file}`),
  ];
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, path = "", anchor]) => !leadsSomewhere(document, path, anchor))
      .map(([link]) => `${document}: ${link}`),
  );
  expect(broken).toEqual([]);
});

function leadsSomewhere(from: string, path: string, anchor: string | undefined): boolean {
  const target = path === "" ? from : join(from, "..", path);
  try {
    const text = read(target);
    return anchor === undefined || headingAnchors(text).includes(anchor);
  } catch {
    return readable(target);
  }
}

/** Whether it is a directory; a file would have been read. */
function readable(target: string): boolean {
  try {
    return readdirSync(join(root, target)).length > 0;
  } catch {
    return false;
  }
}

/** Anchors of headings, as GitHub makes them. */
const headingAnchors = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
