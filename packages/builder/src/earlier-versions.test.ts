import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { changedVersions, earlierTime } from "./earlier-versions.ts";
import { BuildFailure, diagnosis } from "./failure.ts";
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
  expect(text).toContain("trying those of 2021-12-01");
  expect(text.match(/^fetch result/gm)).toHaveLength(1);
  expect(text).toContain("itsdangerous==2.0.1");
});

test("BLD-3 the failure with today's versions is told where those of its day don't help, or there are none", async () => {
  const neither = await workshop.tryBuild({}, commit("import itsdangerous.nothing", "2021-12-01T12:00:00Z"));
  expect(neither.result).toMatchObject({ ok: false, diagnosis: { code: "dependency_mismatch" } });
  expect(neither.text).toContain("With those versions it doesn't start either");
  const unpublished = await workshop.tryBuild({}, commit(gone, "2001-01-01T12:00:00Z"));
  expect(unpublished.result).toMatchObject({ ok: false, diagnosis: { phase: "inspect" } });
  expect(unpublished.text).toContain("Those can't be installed");
  const today = await workshop.tryBuild({}, commit(gone));
  expect(today.result).toMatchObject({ ok: false });
  expect(today.text).not.toContain("trying those of");
});

test("BLD-3 earlier versions are tried only for an old source without a lock, and for failures that they may mend", () => {
  const failure = (code: "import_failed" | "variable_missing") =>
    new BuildFailure(diagnosis({ code, phase: "inspect", title: "", detail: "", remedy: "" }));
  const now = new Date("2026-11-23T00:00:00Z");
  const madeAt = new Date("2025-05-01T10:00:00Z");
  const plan = planOf({ "requirements.txt": "fastmcp\n" });
  const locked = planOf({
    "pyproject.toml": '[project]\nname = "a"\nversion = "1"\ndependencies = ["fastmcp"]\n',
    "uv.lock": 'version = 1\n[[package]]\nname = "fastmcp"\n',
  });
  expect(earlierTime(failure("import_failed"), { plan, madeAt, now })).toEqual(new Date("2025-05-02T10:00:00Z"));
  expect(earlierTime(failure("variable_missing"), { plan, madeAt, now })).toBeNull();
  expect(earlierTime(new Error("of the platform"), { plan, madeAt, now })).toBeNull();
  expect(earlierTime(failure("import_failed"), { plan: locked, madeAt, now })).toBeNull();
  expect(earlierTime(failure("import_failed"), { plan, madeAt: null, now })).toBeNull();
  expect(earlierTime(failure("import_failed"), { plan, madeAt: new Date("2026-11-22T00:00:00Z"), now })).toBeNull();
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
