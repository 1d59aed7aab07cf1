import type { Diagnosis } from "@towpath/builder";

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
