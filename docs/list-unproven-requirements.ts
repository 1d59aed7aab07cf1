// Compares docs/requirements.md with the titles of the tests: only a test whose title carries a promise's id
// (`test("GW-13 …")`, in Python `def test_BLD_5_…`) proves it, and the promise's `Shown:` line says how much.
//
// Lists what is not shown, wholly or in part, and counts. With --check the exit status is 1 when document and titles
// disagree, or when a promise of the main job (**M**) has no test. With --titles it prints what proves each promise.
import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { coverageOf, type Proof, parseRequirements, problemsOf, proofsIn } from "./requirements.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const { requirements, problems } = parseRequirements(
  await readFile(new URL("requirements.md", import.meta.url), "utf8"),
);
const proofs: Proof[] = [];
for await (const file of glob("{apps,packages,python,tests,docs}/**/*{.test.ts,.test.tsx,.py}", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === ".venv",
})) {
  proofs.push(...proofsIn(file, await readFile(new URL(`../${file}`, import.meta.url), "utf8")));
}
problems.push(...problemsOf(requirements, proofs));

const print = (line: string) => process.stdout.write(`${line}\n`);

if (process.argv.includes("--titles")) {
  for (const { id, text, shown } of requirements) {
    print(`\n${id} ${text}${shown === null ? "" : `\n  Shown: ${shown}`}`);
    for (const proof of proofs.filter((each) => each.id === id)) print(`    ${proof.title}`);
  }
} else {
  const count = { whole: 0, part: 0, none: 0 };
  for (const requirement of requirements) {
    const coverage = coverageOf(requirement);
    count[coverage] += 1;
    if (coverage === "whole") continue;
    const missing =
      coverage === "none" ? `none: ${requirement.text}` : `part: ${requirement.shown?.split("Not shown: ")[1]}`;
    print(`${requirement.isMainJob ? "M" : " "} ${requirement.id.padEnd(7)} ${missing.slice(0, 110)}`);
  }
  for (const problem of problems) print(`✗ ${problem}`);
  print(
    `Of ${requirements.length} promises ${count.whole} are shown whole, ${count.part} in part, ${count.none} not at all.`,
  );
}
if (process.argv.includes("--check") && problems.length > 0) process.exitCode = 1;
