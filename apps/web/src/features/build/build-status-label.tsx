import type { BuildStatus } from "@towpath/core/build/schema";
import { StatusDot } from "~/ui/status-dot.tsx";
import { isRunning, statusLooks } from "./build-status.ts";

/** Dot and word of a build's status. */
export function BuildStatusLabel({ status }: { status: BuildStatus }) {
  const look = statusLooks[status];
  return (
    <span className="inline-flex items-center gap-2 font-medium whitespace-nowrap">
      <StatusDot tone={look.tone} pulse={isRunning(status)} />
      {look.label}
    </span>
  );
}
