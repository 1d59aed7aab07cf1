import type { DiagnosisCode } from "@towpath/core/build/contract";

const sections: Readonly<Partial<Record<DiagnosisCode, "build" | "variables">>> = {
  variable_missing: "variables",
  entrypoint_not_found: "build",
  object_missing: "build",
  unsupported_object: "build",
  requirements_not_found: "build",
};

/** The section of the settings in which a diagnosis of that code can be put right; null: it lies in the code. */
export const settingsSectionOf = (code: DiagnosisCode): "build" | "variables" | null => sections[code] ?? null;
