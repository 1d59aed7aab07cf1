import type { DiagnosisAction } from "@towpath/core/delivery/build/contract";
import { sampleDiagnosis } from "@towpath/core/testing";
import { expect, test } from "vitest";
import { aboutFork, failureOfFork, failureOnOurSide } from "./diagnoses.ts";

test("BLD-9 a failed preview of a fork proposes no change of the project's settings, and no variables as if it got them", () => {
  const ofSettings: readonly DiagnosisAction[] = [
    { kind: "entrypoint", candidates: ["evil.py"] },
    { kind: "variables", names: ["KEY"] },
    { kind: "settings", section: "build" },
  ];
  for (const action of ofSettings)
    expect(failureOfFork({ ...sampleDiagnosis, action }).action).toEqual({ kind: "code", path: null });
  for (const action of [{ kind: "rebuild" }, { kind: "operator" }, { kind: "code", path: "a.py" }] as const)
    expect(failureOfFork({ ...sampleDiagnosis, action }).action).toEqual(action);
  const remedy = "Add `KEY` under Settings → Environment variables, then rebuild.";
  expect(aboutFork(remedy)).toBe(
    `${remedy} The preview of a pull request from a fork gets no variables: this helps once it is merged.`,
  );
  expect(aboutFork("Correct pyproject.toml and push again.")).toBe("Correct pyproject.toml and push again.");
});

test("BLD-2 LOG-6 a build that found no space on the disk says so, and other errors of ours say what to do", () => {
  const full = Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
  const diagnosis = { title: "The disk is full", remedy: expect.stringContaining("operator to free disk space") };
  expect(failureOnOurSide(full)).toMatchObject(diagnosis);
  expect(failureOnOurSide(new Error("the layer could not be stored", { cause: full }))).toMatchObject(diagnosis);
  expect(failureOnOurSide(new Error("it broke"))).toMatchObject({ remedy: expect.stringContaining("worker's log") });
});
