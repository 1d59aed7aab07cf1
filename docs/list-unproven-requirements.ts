// Checks docs/requirements.md against the titles of the tests: a promise is proven only by a test whose title carries
// its id (`test("GW-13 …")`, in Python `def test_BLD_5_…`). A citation in a comment or in a test's body proves nothing.
//
// Lists the promises without such a test. With --fail-on-main-job the exit status is 1 when one of those marked **M**
// (the main job) is among them, and when a title names an id that does not exist. With --titles it prints what proves
// each promise instead.
import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

const requirements = (await readFile(new URL("requirements.md", import.meta.url), "utf8"))
  .split("\n")
  .map((line) => /^- ([A-Z]+-\d+) (spec|design|beyond)( \*\*M\*\*)?: (.*)$/.exec(line))
  .filter((match) => match !== null)
  .map((match) => ({ id: match[1] ?? "", isMainJob: match[3] !== undefined, text: match[4] ?? "" }));

/** A test's title: the first argument of test, it or describe, also after `.each(…)`. */
const titlePattern =
  /\b(?:test|it|describe)(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;

const titles = new Map<string, string[]>();
const prove = (id: string, title: string) => titles.set(id, [...(titles.get(id) ?? []), title]);

for await (const file of glob("{apps,packages,python,tests,docs}/**/*{.test.ts,.test.tsx,.py}", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === ".venv",
})) {
  const text = await readFile(new URL(`../${file}`, import.meta.url), "utf8");
  if (file.endsWith(".py")) {
    for (const [, area, number, rest] of text.matchAll(/def test_([A-Z]+)_(\d+)_(\w+)/g))
      prove(`${area}-${number}`, `${file}: ${rest?.replaceAll("_", " ")}`);
    continue;
  }
  for (const [, , title = ""] of text.matchAll(titlePattern))
    for (const [id] of title.matchAll(/\b[A-Z]{2,}-\d+\b/g)) prove(id, `${file}: ${title}`);
}

const known = new Set(requirements.map(({ id }) => id));
const areas = new Set(requirements.map(({ id }) => id.split("-")[0]));
const invented = [...titles.keys()].filter((id) => areas.has(id.split("-")[0]) && !known.has(id));

if (process.argv.includes("--titles")) {
  for (const { id, text } of requirements) {
    process.stdout.write(`\n${id} ${text}\n${(titles.get(id) ?? []).map((title) => `    ${title}\n`).join("")}`);
  }
} else {
  const unproven = requirements.filter(({ id }) => !titles.has(id));
  const mainJob = unproven.filter((requirement) => requirement.isMainJob);
  for (const { id, isMainJob, text } of unproven)
    process.stdout.write(`${isMainJob ? "M" : " "} ${id.padEnd(7)} ${text.slice(0, 110)}\n`);
  for (const id of invented) process.stdout.write(`? ${id} stands in a title but not in docs/requirements.md.\n`);
  process.stdout.write(
    `${requirements.length - unproven.length} of ${requirements.length} promises have a test that names them; ` +
      `${mainJob.length} of the main job's have none.\n`,
  );
  if (process.argv.includes("--fail-on-main-job") && mainJob.length + invented.length > 0) process.exitCode = 1;
}
