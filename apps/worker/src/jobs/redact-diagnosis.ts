import type { BuildWarning, Diagnosis } from "@towpath/core/build/contract";

/** A diagnosis quotes messages and tracebacks. */
export function redactDiagnosis(diagnosis: Diagnosis, redact: (text: string) => string): Diagnosis {
  return {
    ...diagnosis,
    title: redact(diagnosis.title),
    detail: redact(diagnosis.detail),
    remedy: redact(diagnosis.remedy),
    excerpt: diagnosis.excerpt === null ? null : redact(diagnosis.excerpt),
  };
}

/** A warning may quote the server too. */
export const redactWarning = (warning: BuildWarning, redact: (text: string) => string): BuildWarning => ({
  ...warning,
  title: redact(warning.title),
  detail: redact(warning.detail),
});
