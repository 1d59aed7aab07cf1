import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { BuildFailure, changeCode, diagnosis } from "./failure.ts";
import { besides, changedVersions, isBeyond, laterAttempts, newestPin, releaseOf, stepBack } from "./second-attempt.ts";
import { plainServer } from "./testing/plain-server.ts";
import { planOf } from "./testing/plan-of.ts";
import { repository } from "./testing/tarball.ts";
import { openWorkshop, type Workshop } from "./testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// Real sandbox, uv and index. itsdangerous had `json` until 2.0, of May 2021; 2.1 of February 2022 lacks it.
let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

const commit = (code: string, committedAt?: string) => {
  const files = { "server.py": `${code}\n${plainServer}`, "requirements.txt": "itsdangerous\n" };
  return {
    entrypoint: "server.py:app",
    openTarball: () => repository(files, committedAt === undefined ? new Date() : new Date(committedAt)),
  };
};
const gone = "from itsdangerous import json as _";

test("BLD-3 BLD-16 a server that newer dependencies broke runs with those of its commit's day, with a warning of what differs", async () => {
  const { result, text } = await workshop.tryBuild({}, commit(gone, "2021-12-01T12:00:00Z"));
  if (!result.ok) throw new Error(text);
  expect(result.manifest?.tools).toHaveLength(1);
  const [warning] = result.warnings;
  expect(warning).toMatchObject({ code: "older_dependencies", title: expect.stringContaining("2021-12-01") });
  expect(warning?.detail).toContain("itsdangerous 2.0.1 (today 2.");
  expect(warning?.remedy).toContain("pin those that it needs in `requirements.txt`");
  expect(text).toMatch(
    /install step Attempt 2: newer versions .* so those of 2021-12-01 are installed, when the commit was made\./,
  );
  expect(text.match(/^fetch result/gm)).toHaveLength(1);
  expect(text).toContain("itsdangerous==2.0.1");
});

test("RUN-8 what a lost build had installed is installed again: its versions, those of its time, or today's if they are gone", async () => {
  const kept = { pythonVersion: "0.0.0", at: "2021-12-01T12:00:00.000Z" };
  const again = async (pins: string[] | null, requirements = "itsdangerous\n") => {
    const files = { "server.py": plainServer, "requirements.txt": requirements };
    const openTarball = () => repository(files);
    const request = { entrypoint: "server.py:app", openTarball, resolution: { ...kept, pins } };
    const { result, text } = await workshop.tryBuild({}, request);
    if (!result.ok) throw new Error(text);
    return result;
  };
  const pinned = await again(["itsdangerous==2.0.0", "nothing-here==1"]);
  expect(pinned.resolution?.pins).toContain("itsdangerous==2.0.0");
  expect(pinned.warnings).toEqual([]);
  expect((await again(pinned.resolution?.pins?.slice() ?? null)).layers).toEqual(pinned.layers);
  expect((await again(null)).resolution?.pins).toContain("itsdangerous==2.0.1");
  expect((await again(["itsdangerous==99"])).resolution?.pins?.join()).toMatch(/itsdangerous==2\.[2-9]/);
  // Its index of that day had no such version.
  expect((await again(null, "itsdangerous>=2.2\n")).resolution?.pins?.join()).toMatch(/itsdangerous==2\.[2-9]/);
});

test("BLD-3 the failure with today's versions is told where those of its day don't help, or there are none", async () => {
  const neither = await workshop.tryBuild({}, commit("import itsdangerous.nothing", "2021-12-01T12:00:00Z"));
  expect(neither.result).toMatchObject({ ok: false, diagnosis: { code: "dependency_mismatch" } });
  expect(neither.text).toContain("With those versions it doesn't start either");
  const unpublished = await workshop.tryBuild({}, commit(gone, "2001-01-01T12:00:00Z"));
  expect(unpublished.result).toMatchObject({ ok: false, diagnosis: { phase: "inspect" } });
  expect(unpublished.text).toContain("Those versions can't be installed");
  const today = await workshop.tryBuild({}, commit(gone));
  expect(today.result).toMatchObject({ ok: false });
  expect(today.text).not.toContain("Attempt 2");
});

test("BLD-3 BLD-16 code that counts on its place in an environment starts when it is installed", async () => {
  const project = [
    'name = "deep"',
    'version = "1"',
    'description = ""',
    'requires-python = ">=3.10"',
    'dependencies = ["idna"]',
  ];
  const system = ['requires = ["flit_core"]', 'build-backend = "flit_core.buildapi"'];
  const files = {
    "pyproject.toml": ["[project]", ...project, "[build-system]", ...system].join("\n"),
    "src/deep/__init__.py": "",
    "src/deep/server.py": `from pathlib import Path\nroot = Path(__file__).resolve().parents[5]\n${plainServer}`,
  };
  const { result, text } = await workshop.tryBuild(files, { entrypoint: "deep.server:app" });
  if (!result.ok) throw new Error(text);
  expect(result.manifest?.tools).toHaveLength(1);
  expect(result.warnings).toEqual([]);
  expect(text).toContain("IndexError: 5");
  expect(text).toContain("install step Attempt 2: it may have to be installed, so the project is built as a package.");
});

const forMcp1 = `
import os
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("Old")

@mcp.tool()
def add(a: int, b: int) -> int:
    return a + b
`;

test.runIf(isThorough)(
  "BLD-3 BLD-16 a range that ends at an early mcp 1 is built with what that release worked with",
  async () => {
    const ofMay = await openWorkshop({ uploadedAt: async () => new Date("2025-05-12T12:00:00Z") });
    const { result, text } = await ofMay.tryBuild({ "server.py": forMcp1, "requirements.txt": "mcp~=1.8.0\n" });
    await ofMay.close();
    if (!result.ok) throw new Error(text);
    expect(result.warnings[0]?.detail).toContain("when mcp 1.8.1 was released, it does: pydantic 2.");
  },
);

test.runIf(isThorough)(
  "BLD-3 BLD-16 code for an early mcp 1 is built with it and with what it worked with",
  async () => {
    const early = forMcp1.replace('FastMCP("Old")', 'FastMCP("Old", version="1")');
    const { result, text } = await workshop.tryBuild({ "server.py": early, "requirements.txt": "mcp\n" });
    if (!result.ok) throw new Error(text);
    expect(text).toContain("install step Attempt 2: with mcp<2");
    expect(result.warnings.map(({ title }) => title)).toEqual(["The server runs with dependencies of 2025-07-16"]);
    expect(result.warnings[0]?.detail).toContain("when mcp 1.11 was the newest, it does: mcp 1.11.0 (today 2.");
  },
);

test("BLD-3 a package that others have outgrown is tried with those of its release's day", async () => {
  const exact = "mcp==1.8.1\npydantic==2.14.3\n";
  const at = new Date("2025-05-12T00:00:00Z");
  const asked: string[] = [];
  const uploadedAt = async ({ name, version }: { readonly name: string; readonly version: string }) => {
    asked.push(`${name}==${version}`);
    return at;
  };
  expect(await releaseOf("mcp", exact, uploadedAt)).toEqual({ name: "mcp 1.8.1", at });
  expect(await releaseOf(null, exact, uploadedAt)).toBeNull();
  expect(await releaseOf("httpx", exact, uploadedAt)).toBeNull();
  expect(asked).toEqual(["mcp==1.8.1"]);
  expect(await releaseOf("mcp", exact, () => Promise.reject(new Error("no index")))).toBeNull();
});

test("BLD-3 where a requirement brings a server to a failure that a certain day's releases don't cause, they are tried", () => {
  const time = { day: new Date("2025-07-16T00:00:00Z"), when: "mcp 1.11 was the newest" };
  const refuses = diagnosis({
    code: "keyword_removed",
    phase: "inspect",
    title: "x",
    detail: "",
    remedy: "",
    action: changeCode,
  });
  const again = new BuildFailure(refuses, undefined, { time });
  const ofDay = { kind: "as-of", asOf: time.day, ...time };
  const attempt = { kind: "requirement", requirement: "mcp<2" } as const;
  expect(stepBack(attempt, again)).toEqual(ofDay);
  expect(stepBack({ ...ofDay, kind: "as-of" }, again)).toBeNull();
  expect(stepBack(attempt, new BuildFailure(refuses))).toBeNull();
  const found = { madeAt: null, pinned: null, isPackage: false, now: new Date() };
  expect(laterAttempts(again, { ...found, plan: planOf({ "server.py": "", "requirements.txt": "mcp<2\n" }) })).toEqual([
    ofDay,
  ]);
});

test("BLD-3 BLD-16 code for mcp 1 that requires no version is built with it, however new, and its author is told", async () => {
  const { result, log, text } = await workshop.tryBuild({ "server.py": forMcp1, "requirements.txt": "mcp\n" });
  if (!result.ok) throw new Error(text);
  expect(result.manifest?.tools.map(({ tool_name }) => tool_name)).toEqual(["add"]);
  const [{ code, title, detail, remedy } = { code: "", title: "", detail: "", remedy: "" }, ...others] =
    result.warnings;
  expect([code, title, others]).toEqual([
    ...["requirement_added", "The server needs mcp<2, which its requirements don't say", []],
  ]);
  expect(detail).toMatch(/With `mcp<2` it does: mcp 1\.[\d.]+ \(today \d/);
  expect(remedy).toContain("Require `mcp<2` in `requirements.txt` and push");
  expect(log.filter(({ phase, kind }) => phase === "plan" && kind === "result")).toHaveLength(1);

  // What it lacks besides is what its author hears.
  const lacking = `${forMcp1}\nkey = os.environ["SHOP_KEY"]\n`;
  const second = await workshop.tryBuild({ "server.py": lacking, "requirements.txt": "mcp\n" });
  expect(second.result).toMatchObject({
    ok: false,
    diagnosis: { code: "variable_missing", action: { kind: "variables", names: ["SHOP_KEY"] } },
  });
});

test.runIf(isThorough)("BLD-16 code that passes what FastMCP 3 refuses is built with an older one", async () => {
  const code = `from fastmcp import FastMCP\nmcp = FastMCP("Old", port=9000)\n@mcp.tool\ndef add(a: int) -> int:\n    return a\n`;
  const { result, text } = await workshop.tryBuild({ "server.py": code, "requirements.txt": "fastmcp\n" });
  if (!result.ok) throw new Error(text);
  expect(result.warnings.map(({ title }) => title).join()).toContain("fastmcp<3");
});

test("BLD-3 other versions are tried only without a lock, those of its day for an old source, and for failures that they may mend", () => {
  const failure = (code: "import_failed" | "variable_missing", requirement: string | null = null) =>
    new BuildFailure(
      diagnosis({ code, phase: "inspect", title: "", detail: "", remedy: "", action: changeCode }),
      undefined,
      {
        requirement,
      },
    );
  const now = new Date("2026-11-23T00:00:00Z");
  const madeAt = new Date("2025-05-01T10:00:00Z");
  const plan = planOf({ "requirements.txt": "fastmcp\n" });
  const locked = planOf({
    "pyproject.toml": '[project]\nname = "a"\nversion = "1"\ndependencies = ["fastmcp"]\n',
    "uv.lock": 'version = 1\n[[package]]\nname = "a"\n[[package]]\nname = "fastmcp"\n',
  });
  const old = { kind: "as-of", asOf: new Date("2025-05-02T10:00:00Z"), day: madeAt, when: "the commit was made" };
  const named = { kind: "requirement", requirement: "mcp<2" };
  const from = { plan, madeAt, pinned: null, isPackage: false, now };
  expect(laterAttempts(failure("import_failed"), from)).toEqual([old]);
  expect(laterAttempts(failure("import_failed"), { ...from, isPackage: true })).toMatchObject([
    { when: "this version was published" },
  ]);
  expect(laterAttempts(failure("import_failed", "mcp<2"), from)).toEqual([named, old]);
  expect(laterAttempts(failure("import_failed", "mcp<2"), { ...from, madeAt: null })).toEqual([named]);
  expect(laterAttempts(failure("variable_missing"), from)).toEqual([]);
  expect(laterAttempts(new Error("of the platform"), from)).toEqual([]);
  expect(laterAttempts(failure("import_failed", "mcp<2"), { ...from, plan: locked })).toEqual([]);
  const yesterday = new Date("2026-11-22T00:00:00Z");
  expect(laterAttempts(failure("import_failed"), { ...from, madeAt: yesterday })).toEqual([]);
  // What it pins is older than its commit.
  const pinned = { name: "mcp 1.6.0", at: madeAt };
  expect(laterAttempts(failure("import_failed"), { ...from, madeAt: yesterday, pinned })).toEqual([
    { ...old, when: "mcp 1.6.0 was released" },
  ]);
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

test("BLD-3 what is wrong besides is told where the release that the failure names helps that far", () => {
  const again = (code: "lifespan_failed" | "import_failed", requirement: string | null = null) =>
    new BuildFailure(
      diagnosis({ code, phase: "inspect", title: "", detail: "", remedy: "", action: changeCode }),
      undefined,
      {
        requirement,
      },
    );
  const named = { kind: "requirement", requirement: "mcp<2" } as const;
  const old = { kind: "as-of", asOf: new Date(), day: new Date(), when: "the commit was made" } as const;
  expect(isBeyond(named, again("lifespan_failed"))).toBe(true);
  expect(isBeyond(named, again("import_failed"))).toBe(false);
  expect(isBeyond(named, again("lifespan_failed", "fastmcp<3"))).toBe(false);
  expect(isBeyond(old, again("lifespan_failed"))).toBe(false);
  const told = besides(named, again("import_failed", "mcp<2"), again("lifespan_failed")).diagnosis;
  expect(told).toMatchObject({ code: "lifespan_failed", remedy: expect.stringContaining("Require `mcp<2`, too.") });
});

test("BLD-3 of the versions that differ those come first that the failure names, then those whose interface may differ", () => {
  const then =
    "--index-url https://pypi.org/simple\nfastmcp==2.3.0\nanyio==4.2.0\nold==0.3.1 ; python_version > '3'\nxyz==0.4.1\n";
  const today = "fastmcp==4.1.2\nanyio==4.9.0\nold==0.4.0\nxyz==0.4.9\nnew==1\n";
  expect(changedVersions(then, today, "The module anyio.x is gone, as is older-old")).toEqual([
    ...[
      "anyio 4.2.0 (today 4.9.0)",
      "fastmcp 2.3.0 (today 4.1.2)",
      "old 0.3.1 (today 0.4.0)",
      "xyz 0.4.1 (today 0.4.9)",
    ],
  ]);
});
