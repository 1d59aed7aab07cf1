import type { DiagnosisCode } from "@towpath/core/delivery/build/contract";
import { olderFramework } from "../diagnose/framework-release.ts";
import type { Failure } from "../failure.ts";
import type { Strategy } from "./attempt.ts";
import { differentVersions, hasLock, otherVersionsFailed } from "./versions.ts";

/** A requirement with which the code may work, such as `mcp<2`; null if the failure names none. */
function requirementFor({ status }: Failure): string | null {
  if (status?.code === "mcp_version_mismatch") return status.candidates[0] ?? null;
  return status?.code === "keyword_removed" ? olderFramework(status) : null;
}

/** Adds the release that the failure names as a requirement. */
export const namedRelease: Strategy = async ({ made: today, first, isPackage }) => {
  const requirement = requirementFor(first);
  if (requirement === null || hasLock(today)) return null;
  return {
    changes: { requirement },
    why: `with ${requirement}, if the requirements allow it.`,
    failed: otherVersionsFailed,
    warningFor: (made) => {
      const { today: failure, changed, file } = differentVersions(first, made, today);
      return {
        code: "requirement_added",
        title: `The server needs ${requirement}, which its requirements don't say`,
        detail: `${failure} With \`${requirement}\` it does${changed}.`,
        remedy: isPackage
          ? `Choose a newer version of the package when there is one, or tell its author to require \`${requirement}\`.`
          : `Require \`${requirement}\` in ${file} and push: until then each build tries today's versions first, which takes longer.`,
      };
    },
    reportFor: (again) => (hasFurtherProblem(again) ? combineDiagnoses(first, again, requirement) : null),
  };
};

/** Failures of a server whose modules could be loaded, except for one that isn't installed at all. */
const afterLoading: ReadonlySet<DiagnosisCode> = new Set([
  ...(["module_missing", "factory_failed", "lifespan_failed", "exited_early", "keyword_removed"] as const),
]);

/** Whether the server needs the release that the first failure named, and has another problem as well. */
const hasFurtherProblem = (again: Failure) => requirementFor(again) === null && afterLoading.has(again.diagnosis.code);

/** The failure with a requirement, extended by the requirement, which is needed too. */
function combineDiagnoses(first: Failure, { diagnosis, status }: Failure, requirement: string): Failure {
  const detail = `${diagnosis.detail} This is with \`${requirement}\`, which it also needs: with today's versions it fails earlier (${first.diagnosis.title}).`;
  const remedy = `${diagnosis.remedy} Require \`${requirement}\`, too.`;
  return { diagnosis: { ...diagnosis, detail, remedy }, status };
}
