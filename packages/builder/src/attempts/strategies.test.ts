import type { DiagnosisCode } from "@towpath/core/delivery/build/contract";
import { expect, test } from "vitest";
import { changeCode, diagnosis, type Failure, type HarnessFailure } from "../failure.ts";
import { planOf } from "../testing/plan-of.ts";
import { type FailedBuild, isRetryable } from "./attempt.ts";
import { newestPin, releaseOf } from "./date-pinned.ts";
import { strategies } from "./strategies.ts";
import { changedVersions } from "./versions.ts";

const failed = (code: HarnessFailure["code"], more: Partial<HarnessFailure> = {}): Failure => ({
  diagnosis: diagnosis("inspect", code, changeCode, { title: "x", detail: "", remedy: "" }),
  status: {
    state: "failed",
    code,
    message: "",
    file: null,
    line: null,
    module: null,
    candidates: [],
    traceback: null,
    ...more,
  },
});
const forMcp1 = failed("mcp_version_mismatch", { candidates: ["mcp<2"] });
const refusedByMcp1 = failed("keyword_removed", { module: "mcp", candidates: ["version", "1.30.0"] });

const now = new Date("2026-11-23T00:00:00Z");
const madeAt = new Date("2025-05-01T10:00:00Z");
const plan = planOf({ "requirements.txt": "fastmcp\n" });
const made = { plan, exact: "", madeAt };

/** The attempts after a failure, if none of them helps: what differs, and the day's event. */
async function attemptsAfter(first: Failure, more: Partial<FailedBuild> = {}) {
  const build = { made, first, last: first, isPackage: false, now, uploadedAt: async () => null, ...more };
  const attempts = await Promise.all(strategies.map((strategy) => strategy(build)));
  return attempts.filter((attempt) => attempt !== null);
}
const changesAfter = async (first: Failure, more: Partial<FailedBuild> = {}) =>
  (await attemptsAfter(first, more)).map(({ changes }) => changes);
const dayAfter = { asOf: new Date("2025-05-02T10:00:00Z") };

test("BLD-3 other versions are tried only without a lock, those of its day for an old source, and for failures that they may fix", async () => {
  expect(isRetryable(failed("import_failed"))).toBe(true);
  expect(isRetryable(failed("variable_missing"))).toBe(false);
  const [ofItsDay, ...others] = await attemptsAfter(failed("import_failed"));
  expect([ofItsDay?.changes, others]).toEqual([dayAfter, []]);
  expect(ofItsDay?.why).toContain("those of 2025-05-01 are installed, when the commit was made.");
  const [published] = await attemptsAfter(failed("import_failed"), { isPackage: true });
  expect(published?.why).toContain("when this version was published.");
  expect(await changesAfter(forMcp1)).toEqual([{ requirement: "mcp<2" }, dayAfter]);
  expect(await changesAfter(forMcp1, { made: { ...made, madeAt: null } })).toEqual([{ requirement: "mcp<2" }]);
  const locked = planOf({
    "pyproject.toml": '[project]\nname = "a"\nversion = "1"\ndependencies = ["fastmcp"]\n',
    "uv.lock": 'version = 1\n[[package]]\nname = "a"\n[[package]]\nname = "fastmcp"\n',
  });
  expect(await changesAfter(forMcp1, { made: { ...made, plan: locked } })).toEqual([]);
  const ofYesterday = { ...made, madeAt: new Date("2026-11-22T00:00:00Z") };
  expect(await changesAfter(failed("import_failed"), { made: ofYesterday })).toEqual([]);
  // Its pins are older than its commit.
  const pinning = { ...ofYesterday, plan: planOf({ "requirements.txt": "mcp==1.6.0\n" }) };
  const [ofRelease] = await attemptsAfter(failed("import_failed"), { made: pinning, uploadedAt: async () => madeAt });
  expect(ofRelease?.changes).toEqual(dayAfter);
  expect(ofRelease?.why).toContain("when mcp 1.6.0 was released.");
});

test("BLD-3 BLD-16 a project that an installed package hides, or that counts on its place, is tried installed, and nothing else is", async () => {
  const project = planOf({
    "pyproject.toml":
      '[project]\nname = "a"\nversion = "1"\ndependencies = ["fastmcp"]\n[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n',
  });
  const counting = { message: "IndexError: 5", traceback: "Path(__file__).resolve().parents[5]" };
  for (const failure of [failed("import_failed", counting), failed("module_missing", { candidates: ["src/a.py"] })]) {
    expect(await changesAfter(failure, { made: { ...made, plan: project } })).toEqual([{ isInstalled: true }]);
    // Not a package.
    expect(await changesAfter(failure)).toEqual([dayAfter]);
  }
  expect(await changesAfter(failed("module_missing"), { made: { ...made, plan: project } })).toEqual([dayAfter]);
});

test("BLD-3 where a requirement brings a server to a failure that a certain day's releases don't cause, they are tried", async () => {
  const ofEarlyMcp = { asOf: new Date("2025-07-16T00:00:00Z") };
  const ofToday = { ...made, madeAt: null };
  expect(await changesAfter(refusedByMcp1, { made: ofToday })).toEqual([ofEarlyMcp]);
  expect(await changesAfter(forMcp1, { made: ofToday })).toEqual([{ requirement: "mcp<2" }]);
  expect(await changesAfter(forMcp1, { made: ofToday, last: refusedByMcp1 })).toEqual([
    { requirement: "mcp<2" },
    ofEarlyMcp,
  ]);
});

test("BLD-3 a further problem is reported if the release that the failure names solves the first", async () => {
  const [named, ofItsDay] = await attemptsAfter(forMcp1);
  const reported = named?.reportFor(failed("lifespan_failed"))?.diagnosis;
  expect(reported).toMatchObject({
    code: "lifespan_failed" satisfies DiagnosisCode,
    detail: expect.stringContaining("This is with `mcp<2`, which it also needs"),
    remedy: expect.stringContaining("Require `mcp<2`, too."),
  });
  expect(named?.reportFor(failed("import_failed"))).toBeNull();
  expect(named?.reportFor(failed("keyword_removed", { module: "fastmcp", candidates: ["port", "3.1"] }))).toBeNull();
  expect(ofItsDay?.reportFor(failed("lifespan_failed"))).toBeNull();
});

test("BLD-3 a package that others have outgrown is tried with those of its release's day", async () => {
  const exact = "mcp==1.8.1\npydantic==2.14.3\n";
  const at = new Date("2025-05-12T00:00:00Z");
  const requested: string[] = [];
  const uploadedAt: FailedBuild["uploadedAt"] = async ({ name, version }) => {
    requested.push(`${name}==${version}`);
    return at;
  };
  expect(await releaseOf("mcp", exact, uploadedAt)).toEqual({ name: "mcp 1.8.1", at });
  expect(await releaseOf(null, exact, uploadedAt)).toBeNull();
  expect(await releaseOf("httpx", exact, uploadedAt)).toBeNull();
  expect(requested).toEqual(["mcp==1.8.1"]);
  expect(await releaseOf("mcp", exact, () => Promise.reject(new Error("no index")))).toBeNull();
  const outgrown = failed("dependency_mismatch", { candidates: ["mcp", "pydantic"] });
  const [ofRelease] = await attemptsAfter(outgrown, { made: { plan, exact, madeAt: null }, uploadedAt });
  expect(ofRelease?.why).toContain("those of 2025-05-12 are installed, when mcp 1.8.1 was released.");
});

test("BLD-3 the day of a source is that of the newest release to which it holds its framework and others", async () => {
  const days: Record<string, string> = { mcp: "2025-03-27", httpx: "2025-01-02", idna: "2025-04-05" };
  const uploadedAt = async ({ name }: { name: string }) => {
    if (name === "gone") throw new Error("There is no package gone.");
    return name in days ? new Date(days[name] ?? "") : null;
  };
  const pinsOf = (text: string) => planOf({ "requirements.txt": text }).dependencies.pins;
  const pins = pinsOf("Mcp[cli] ==1.6.0 ; python_version > '3'\nhttpx==0.28.1 # why\nidna>=3\nanyio==4.*\ngone==1\n");
  expect(pins.map(({ name, version }) => `${name} ${version}`)).toEqual(["mcp 1.6.0", "httpx 0.28.1", "gone 1"]);
  expect(await newestPin(pins, uploadedAt)).toEqual({ name: "mcp 1.6.0", at: new Date("2025-03-27") });
  expect(await newestPin(pinsOf("mcp==1.6.0\nidna==3.10\n"), uploadedAt)).toMatchObject({ name: "idna 3.10" });
  expect(await newestPin(pinsOf("httpx==0.28.1\nmcp>=1\n"), uploadedAt)).toBeNull();
  expect(await newestPin(pinsOf("mcp==99\n"), async () => null)).toBeNull();
  const pyproject = '[project]\nname = "a"\nversion = "1"\ndependencies = ["fastmcp==2.3.0"]\n';
  expect(planOf({ "pyproject.toml": pyproject }).dependencies.pins).toEqual([{ name: "fastmcp", version: "2.3.0" }]);
});

test("BLD-3 differing versions are sorted: first those that the failure names, then those whose interface may differ", () => {
  const then =
    "--index-url https://pypi.org/simple\nfastmcp==2.3.0\nanyio==4.2.0\nold==0.3.1 ; python_version > '3'\nxyz==0.4.1\n";
  const today = "fastmcp==4.1.2\nanyio==4.9.0\nold==0.4.0\nxyz==0.4.9\nnew==1\n";
  expect(changedVersions(then, today, "The module anyio.x is gone, as is older-old")).toEqual([
    "anyio 4.2.0 (today 4.9.0)",
    "fastmcp 2.3.0 (today 4.1.2)",
    "old 0.3.1 (today 0.4.0)",
    "xyz 0.4.1 (today 0.4.9)",
  ]);
});
