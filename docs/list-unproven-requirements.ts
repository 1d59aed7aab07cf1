// Lists the promises of docs/requirements.md that no test cites by its id.
// With --fail-on-main-job the exit status is 1 when one of those marked **M** (the main job) is among them.
import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

const requirements = (await readFile(new URL("requirements.md", import.meta.url), "utf8"))
  .split("\n")
  .map((line) => /^- ([A-Z]+-\d+) (spec|design|beyond)( \*\*M\*\*)?: (.*)$/.exec(line))
  .filter((match) => match !== null)
  .map((match) => ({ id: match[1] ?? "", isMainJob: match[3] !== undefined, text: match[4] ?? "" }));

const cited = new Set<string>();
for await (const file of glob("{apps,packages,python,tests}/**/*{.test.ts,.test.tsx,.py}", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === ".venv",
})) {
  if (file.endsWith(".py") && !file.includes("/tests/")) continue;
  const text = await readFile(new URL(`../${file}`, import.meta.url), "utf8");
  for (const id of text.matchAll(/\b([A-Z]+)[-_](\d+)(?=\D|$)/g)) cited.add(`${id[1]}-${id[2]}`);
  // Python's test names carry ids as test_BLD_5_….
  for (const id of text.matchAll(/test_([A-Z]+)_(\d+)_/g)) cited.add(`${id[1]}-${id[2]}`);
}

const unproven = requirements.filter(({ id }) => !cited.has(id));
const mainJob = unproven.filter((requirement) => requirement.isMainJob);
for (const { id, isMainJob, text } of unproven) {
  process.stdout.write(`${isMainJob ? "M" : " "} ${id.padEnd(7)} ${text.slice(0, 110)}\n`);
}
process.stdout.write(
  `${requirements.length - unproven.length} of ${requirements.length} promises are cited by a test; ` +
    `${mainJob.length} of the main job's are not.\n`,
);
if (process.argv.includes("--fail-on-main-job") && mainJob.length > 0) process.exitCode = 1;
