import type { BuildWarningView, DiagnosisView } from "./build.schema.ts";

/** PostgreSQL's jsonb refuses NUL and halves of surrogate pairs; a diagnosis may quote them from a tenant's server. */
export function storableDiagnosis(diagnosis: DiagnosisView): DiagnosisView {
  const { title, detail, remedy, file, excerpt } = diagnosis;
  return {
    ...diagnosis,
    title: storable(title),
    detail: storable(detail),
    remedy: storable(remedy),
    file: file === null ? null : storable(file),
    excerpt: excerpt === null ? null : storable(excerpt),
  };
}

/** The same for warnings. */
export const storableWarning = ({ code, title, detail, remedy }: BuildWarningView): BuildWarningView => ({
  code,
  title: storable(title),
  detail: storable(detail),
  remedy: storable(remedy),
});

const storable = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();
