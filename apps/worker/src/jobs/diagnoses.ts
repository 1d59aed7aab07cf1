import type { BuildWarning, Diagnosis, DiagnosisAction } from "@towpath/core/delivery/build/contract";
import type { Isolation } from "@towpath/runtime";

const noLocation = { file: null, line: null, excerpt: null } as const;

/** Builds run tenants' code, so none runs without isolation. */
export function isolationMissing(isolation: Isolation): Diagnosis {
  const missing = isolation.checks.filter((check) => check.required && !check.ok);
  const list = missing.map((check) => `${check.name} (${check.detail})`).join("; ");
  return {
    code: "internal_error",
    phase: "fetch",
    title: "This machine cannot isolate builds",
    detail: `Towpath runs a repository's code only in a sandbox. Missing: ${list || "the isolation of the sandbox"}.`,
    remedy:
      "Ask the operator: ./towpath up prints what this machine lacks, what to install, and which setting allows builds " +
      "of trusted code without it.",
    action: { kind: "operator" },
    ...noLocation,
  };
}

/** No GitHub installation covers the project's repository any more. */
export const sourceNotConnected: Diagnosis = {
  code: "source_unavailable",
  phase: "fetch",
  title: "The server is not connected to a repository",
  detail: "No GitHub installation gives access to this server's repository.",
  remedy: "Connect GitHub for this organization again, then rebuild.",
  action: { kind: "rebuild" },
  ...noLocation,
};

/** A build of a package's version, of a server that has a repository now; or the reverse. */
export const sourceChanged: Diagnosis = {
  code: "source_unavailable",
  phase: "fetch",
  title: "The server's source has changed",
  detail: "This build is of an earlier source of the server, which is not known any more.",
  remedy: "Build the newest version instead.",
  action: { kind: "rebuild" },
  ...noLocation,
};

/** What to do about files that could not be fetched. */
export const completeSource =
  "If the server needs these files, make them readable with the credential of this server's repository, or put them into the repository itself, and rebuild.";

/** What users see of an error on our side. The cause is in the operator's log only. */
export const failureOnOurSide = (error: unknown): Diagnosis => (isOutOfSpace(error) ? diskFull : internalFailure);

/** A bug or an outage of the platform. */
const internalFailure: Diagnosis = {
  code: "internal_error",
  phase: "rollout",
  title: "The build was interrupted by an error in Towpath",
  detail: "Something went wrong on our side, not in your code. Nothing that is live has changed.",
  remedy: "Rebuild. If it happens again, the operator finds the cause in the worker's log.",
  action: { kind: "rebuild" },
  ...noLocation,
};

const diskFull: Diagnosis = {
  code: "internal_error",
  phase: "install",
  title: "The disk is full",
  detail: "The platform's disk had no space left while this build was stored. Nothing that is live has changed.",
  remedy: "Ask the instance's operator to free disk space, then rebuild.",
  action: { kind: "operator" },
  ...noLocation,
};

function isOutOfSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")) return true;
  return isOutOfSpace(error.cause);
}

/**
 * A failure of a fork's preview without the buttons that change settings: those apply to the whole project, and
 * previews of forks get no variables (BLD-9).
 */
export const failureOfFork = (found: Diagnosis): Diagnosis =>
  isOutsideSettings(found.action) ? found : { ...found, action: { kind: "code", path: null } };

const isOutsideSettings = ({ kind }: DiagnosisAction): boolean =>
  kind === "rebuild" || kind === "operator" || kind === "code";

/** A text about a fork's preview: advice to add variables says when that helps. */
export const aboutFork = (text: string): string =>
  text.includes("Settings → Environment variables")
    ? `${text} The preview of a pull request from a fork gets no variables: this helps once it is merged.`
    : text;

type Redact = (text: string) => string;

/** Removes secrets: a diagnosis quotes messages and tracebacks of the server (KEY-4). */
export function redactDiagnosis(diagnosis: Diagnosis, redact: Redact): Diagnosis {
  return {
    ...diagnosis,
    title: redact(diagnosis.title),
    detail: redact(diagnosis.detail),
    remedy: redact(diagnosis.remedy),
    excerpt: diagnosis.excerpt === null ? null : redact(diagnosis.excerpt),
  };
}

/** Removes secrets: a warning may quote the server too. */
export function redactWarning(warning: BuildWarning, redact: Redact): BuildWarning {
  const { title, detail, remedy } = warning;
  return { ...warning, title: redact(title), detail: redact(detail), remedy: redact(remedy) };
}
