import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BuildFailure } from "./failure.ts";
import type { SourceTree } from "./fetch/source-tree.ts";
import { planSource } from "./plan-source.ts";

const settings = { entrypoint: "server.py", arguments: [], requirements: null, rootDirectory: null };
const never = new AbortController().signal;

async function withTree<T>(files: Record<string, string>, run: (tree: SourceTree) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "plan-"));
  for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text);
  const entries = Object.keys(files).map((path) => ({ path, kind: "file" as const, executable: false, sha256: "" }));
  try {
    return await run({ directory, subPath: "", entries, digest: "d", madeAt: null });
  } finally {
    await rm(directory, { recursive: true });
  }
}
const diagnosisOf = async (planning: Promise<unknown>) => {
  const error = await planning.then(
    () => null,
    (problem: unknown) => problem,
  );
  if (!(error instanceof BuildFailure)) throw error ?? new Error("the plan was made");
  return error.diagnosis;
};

test("BLD-3 a plan is made in another thread, and its failures are returned as diagnoses", async () => {
  const plan = await withTree({ "server.py": "", "requirements.txt": "fastmcp\n" }, (tree) =>
    planSource(tree, settings, { timeoutMs: 60_000, signal: never }),
  );
  expect(plan).toMatchObject({ entryFile: "server.py", dependencies: { kind: "requirements" } });
  const broken = withTree({ "server.py": "", "pyproject.toml": "[project" }, (tree) =>
    planSource(tree, settings, { timeoutMs: 60_000, signal: never }),
  );
  expect(await diagnosisOf(broken)).toMatchObject({ code: "invalid_project_file", file: "pyproject.toml" });
});

test("BLD-2 files that take too long to parse end in a diagnosis at the deadline, without blocking other work", async () => {
  // Sixty thousand deeply nested tables: close to a parser's worst case.
  const hostile = `${Array.from({ length: 60_000 }, (_, n) => `[a${".b".repeat(n % 400)}]\nk${n} = ${n}`).join("\n")}\n`;
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, 1);
  const planning = withTree({ "server.py": "", "pyproject.toml": hostile.slice(0, 2_000_000) }, (tree) =>
    planSource(tree, settings, { timeoutMs: 40, signal: never }),
  );
  const found = await diagnosisOf(planning);
  clearInterval(ticking);
  expect(found).toMatchObject({ code: "invalid_project_file", phase: "plan" });
  expect(found.detail).toContain("takes longer than");
  expect(ticks).toBeGreaterThan(3);
});

test("BLD-2 a file that is too large is refused before it is read", async () => {
  const planning = withTree({ "server.py": "#".repeat(3_000_000) }, (tree) =>
    planSource(tree, settings, { timeoutMs: 60_000, signal: never }),
  );
  expect(await diagnosisOf(planning)).toMatchObject({ code: "invalid_project_file", file: "server.py" });
});

test("BLD-13 a canceled build does not wait for its plan", async () => {
  const cancel = new AbortController();
  const planning = withTree({ "server.py": "" }, (tree) =>
    planSource(tree, settings, { timeoutMs: 60_000, signal: cancel.signal }),
  );
  cancel.abort(new Error("canceled"));
  await expect(planning).rejects.toThrow("canceled");
});
