import { expect, test } from "vitest";
import { BuildFailure } from "./failure.ts";
import { planSource } from "./plan-source.ts";

const settings = { entrypoint: "server.py", arguments: [], requirements: null, rootDirectory: null };
const never = new AbortController().signal;

function plan(files: Record<string, string>, limits: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  const entries = Object.entries(files).map(([path, text]) => ({
    path,
    kind: "file" as const,
    executable: false,
    bytes: text.length,
    sha256: "",
  }));
  const read = async (path: string) => new TextEncoder().encode(files[path]);
  const tree = { subPath: "", entries, digest: "d", madeAt: null };
  return planSource(tree, settings, { read, timeoutMs: 60_000, signal: never, ...limits });
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
  const made = await plan({ "server.py": "", "requirements.txt": "fastmcp\n" });
  expect(made).toMatchObject({ entryFile: "server.py", dependencies: { kind: "requirements" } });
  const broken = plan({ "server.py": "", "pyproject.toml": "[project" });
  expect(await diagnosisOf(broken)).toMatchObject({ code: "invalid_project_file", file: "pyproject.toml" });
});

test("BLD-2 files that take too long to parse end in a diagnosis at the deadline, without blocking other work", async () => {
  // Sixty thousand deeply nested tables: close to a parser's worst case.
  const hostile = `${Array.from({ length: 60_000 }, (_, n) => `[a${".b".repeat(n % 400)}]\nk${n} = ${n}`).join("\n")}\n`;
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, 1);
  const planning = plan({ "server.py": "", "pyproject.toml": hostile.slice(0, 2_000_000) }, { timeoutMs: 200 });
  const found = await diagnosisOf(planning);
  clearInterval(ticking);
  expect(found).toMatchObject({ code: "invalid_project_file", phase: "plan" });
  expect(found.detail).toContain("takes longer than");
  expect(ticks).toBeGreaterThan(3);
});

test("BLD-2 a file that is too large is refused before it is read", async () => {
  const planning = plan({ "server.py": "#".repeat(3_000_000) });
  expect(await diagnosisOf(planning)).toMatchObject({ code: "invalid_project_file", file: "server.py" });
});

test("BLD-13 a canceled build does not wait for its plan", async () => {
  const cancel = new AbortController();
  const planning = plan({ "server.py": "" }, { signal: cancel.signal });
  cancel.abort(new Error("canceled"));
  await expect(planning).rejects.toThrow("canceled");
});
