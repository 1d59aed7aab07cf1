import type { BuildWarning, Diagnosis } from "@towpath/core/delivery/build/contract";
import { buildWarningSchema, diagnosisSchema } from "@towpath/core/delivery/build/contract";
import { expect, test } from "vitest";
import { changeCode, diagnosis } from "../failure.ts";
import { failureOfPackage, warningOfPackage } from "./for-packages.ts";
import { diagnoseHarness } from "./harness.ts";
import { diagnoseUv } from "./uv.ts";

// BLD-17: users who run a package can set variables, arguments and the entrypoint, or choose another version, and
// nothing else.

/** Remedies that require the code. */
const withTheCode =
  /\b(push|commit|pin|lock)\b|repository|requirements\.txt|pyproject|\.python-version|the code|add .* to the dependencies|\bmove\b|\bremove\b/i;
/** Stands for remedies that are taken over. */
const usual = "Add `API_KEY` under Settings → Environment variables, then rebuild.";
const codes = diagnosisSchema.shape.code.options;
const warnings = buildWarningSchema.shape.code.options;

test.each(codes)("BLD-2 BLD-17 the remedy for %s in a package, whose files users can't change", (code) => {
  const found = failureOfPackage(
    diagnosis("inspect", code, changeCode, {
      title: "",
      detail: "No set satisfies `pyproject.toml`.",
      remedy: usual,
      file: "pyproject.toml",
    }),
  );
  expect(found.detail).toBe("No set satisfies the package.");
  expect(found.remedy).not.toMatch(withTheCode);
  expect(found.remedy).toMatch(/Settings → |operator|traceback/);
  expect(found.file).toBeNull();
  expect(found.action.kind).toBe("settings");
});

test.each(warnings)("BLD-2 BLD-17 the remedy for the warning %s of a package", (code) => {
  const found: BuildWarning = { code, title: "", detail: "", remedy: usual };
  expect(warningOfPackage(found).remedy).not.toMatch(withTheCode);
});

const server = { program: { entrypoint: "demo", arguments: [] }, entryFile: "demo", dependencies: null };
const failed = { state: "failed", message: "", file: null, line: null, traceback: null, candidates: [] } as const;
const remedyOf = (found: Diagnosis) => failureOfPackage(found).remedy;

test("BLD-2 BLD-17 facts for both are kept: names of variables, hosts and libraries", () => {
  const missing = diagnoseHarness(
    { ...failed, code: "variable_missing", module: null, candidates: ["API_KEY"] },
    server,
  );
  for (const found of [
    missing,
    diagnoseHarness({ ...failed, code: "arguments_missing", module: null }, server),
    diagnoseUv("error: dns error", { file: null, pythonVersion: "3.11.7" }),
  ]) {
    expect(remedyOf(found)).toBe(found.remedy);
    expect(found.remedy).not.toMatch(withTheCode);
  }
  const library = diagnoseHarness({ ...failed, code: "native_library_missing", module: "libGL.so.1" }, server);
  expect(library.remedy).toMatch(/Or require a variant/);
  expect(remedyOf(library)).toMatch(/Debian package `libgl1` on this host\. Or choose another version/);
  const host = diagnoseHarness({ ...failed, code: "host_unreachable", module: "api.invalid" }, server);
  expect(host.remedy).toMatch(/into the repository/);
  expect(remedyOf(host)).toMatch(/Check that api\.invalid exists.*Settings → Environment variables\.$/);
});
