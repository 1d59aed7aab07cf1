import type { Failure } from "../failure.ts";
import type { FailedBuild, Strategy } from "./attempt.ts";

/**
 * Whether a project may start if it is installed like any other package, as `uvx` does: an installed package hides it,
 * or it looks for a file a number of directories above its own, which a repository's root is too shallow for.
 */
export const mayNeedInstalling = ({ first, made }: FailedBuild): boolean =>
  made.plan.project.mode === "path" && needsInstallation(first);

function needsInstallation({ status }: Failure): boolean {
  if (status?.code === "module_missing") return status.candidates.length > 0;
  const { code, message = "", traceback } = status ?? {};
  return code === "import_failed" && /^IndexError\b/.test(message) && /\.parents\[/.test(traceback ?? "");
}

/** Builds and installs the project instead of importing it from the repository. */
export const installed: Strategy = async (build) =>
  mayNeedInstalling(build)
    ? {
        changes: { isInstalled: true },
        why: "it may have to be installed, so the project is built as a package.",
        failed: { install: "It can't be built", start: "It doesn't start when it is installed, either" },
        warningFor: () => null,
        reportFor: () => null,
      }
    : null;
