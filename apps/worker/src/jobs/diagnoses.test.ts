import { sampleDiagnosis } from "@towpath/core/testing";
import { expect, test } from "vitest";
import { aboutFork, failureOfFork } from "./diagnoses.ts";

test("BLD-9 a failed preview of a fork proposes no change of the project's settings, and no variables as if it got them", () => {
  const fix = { kind: "entrypoint" as const, candidates: ["evil.py"] };
  expect(failureOfFork({ ...sampleDiagnosis, fix })).toEqual(sampleDiagnosis);
  const remedy = "Add `KEY` under Settings → Environment variables, then build again.";
  expect(aboutFork(remedy)).toBe(
    `${remedy} The preview of a pull request from a fork gets no variables: this helps once it is merged.`,
  );
  expect(aboutFork("Correct pyproject.toml and push again.")).toBe("Correct pyproject.toml and push again.");
});
