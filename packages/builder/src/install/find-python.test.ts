import { createFakeDriver, tinyServer } from "@towpath/runtime/testing";
import { expect, test, vi } from "vitest";
import { BuildFailure } from "../failure.ts";
import type { PythonChoice } from "../plan/choose-python.ts";
import { byDistance, findPython } from "./find-python.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Without downloads. */
const pythons = createFakeDriver(tinyServer.driverConfig("/tmp")).host.pythons;
const pinned = (request: string, range: string | null): PythonChoice => ({
  request,
  from: ".python-version",
  within: range === null ? null : { range, file: "pyproject.toml" },
});

/** A supported minor version that this host lacks, and one that it has. */
async function versions(): Promise<{ missing: string; present: string }> {
  const minors = (await pythons.list()).map(({ version }) => Number(version.split(".")[1]));
  const missing = [15, 14, 13, 12, 11, 10].find((minor) => !minors.includes(minor));
  const present = minors.find((minor) => minor >= 10);
  if (missing === undefined || present === undefined) throw new Error("This host has all Pythons, or none.");
  return { missing: `3.${missing}`, present: `3.${present}` };
}

test("BLD-18 a version that is not available is replaced by one that requires-python allows, with a warning", async () => {
  const { missing, present } = await versions();
  const { version, warning } = await findPython(pinned(missing, `>=3.10,<=${present}.99`), null, pythons);
  expect(version.startsWith(`${present}.`)).toBe(true);
  expect(warning).toMatchObject({ code: "python_replaced" });
  expect(warning?.title).toContain(`instead of ${missing}`);
  expect(warning?.detail).toContain(`.python-version asks for Python ${missing}`);
  expect(warning?.detail).toContain(`requires-python of pyproject.toml (>=3.10,<=${present}.99)`);
  expect(warning?.detail).toContain("Downloads of Pythons are switched off.");
  expect(warning?.remedy).toContain("TOWPATH_PYTHON_MIRROR");
});

test("BLD-18 an available version is used without a warning", async () => {
  const { present } = await versions();
  expect((await findPython(pinned(present, ">=3.10"), null, pythons)).warning).toBeNull();
});

test("BLD-18 BLD-2 if none fits, the diagnosis lists the available versions and a remedy", async () => {
  const { missing, present } = await versions();
  const found = await findPython(pinned(missing, `==${missing}.*`), null, pythons).catch((error: unknown) => error);
  if (!(found instanceof BuildFailure)) throw new Error("a Python was found");
  expect(found.diagnosis).toMatchObject({ code: "python_unavailable", file: ".python-version" });
  expect(found.diagnosis.detail).toContain(`${present}.`);
  expect(found.diagnosis.detail).toContain(`pyproject.toml requires ==${missing}.*`);
  expect(found.diagnosis.remedy).toContain(".python-version and requires-python in pyproject.toml");
});

test("BLD-18 the nearest version comes first, and of two equally near ones the newer", () => {
  expect(byDistance(12, [10, 11, 13, 14, 13])).toEqual([13, 11, 14, 10]);
  expect(byDistance(99, [10, 15])).toEqual([15, 10]);
});

test("BLD-18 a missing version is downloaded rather than replaced, and the plan names its source", async () => {
  const { missing } = await versions();
  const requests: string[] = [];
  const bringing = {
    ...pythons,
    async bring(request: string) {
      requests.push(request);
      return { ok: true, version: `${missing}.1`, from: "mirror.example" } as const;
    },
  };
  const brought = { version: `${missing}.1`, from: "mirror.example", warning: null };
  expect(await findPython(pinned(missing, ">=3.10"), null, bringing)).toEqual(brought);
  const range = { request: `==${missing}.*`, from: "pyproject.toml", within: { range: "x", file: "pyproject.toml" } };
  expect(await findPython(range, null, bringing)).toEqual(brought);
  expect(requests).toEqual([missing, `==${missing}.*`]);
});
