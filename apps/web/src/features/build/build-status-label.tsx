import type { BuildStatus } from "@towpath/core/build/contract";
import { StatusDot } from "~/ui/badge.tsx";
import { isRunning, statusLooks } from "./build-status.ts";
import { withWarnings } from "./build-warnings.tsx";

/** Dot and word of a build's status. Green only for a build without warnings. */
export function BuildStatusLabel({ status, warnings = 0 }: { status: BuildStatus; warnings?: number }) {
  const look = statusLooks[status];
  return (
    <span className="inline-flex items-center gap-2 font-medium whitespace-nowrap">
      <StatusDot tone={warnings > 0 ? "warn" : look.tone} pulse={isRunning(status)} />
      {look.label}
      {withWarnings(warnings)}
    </span>
  );
}
