import type { BuildSummary } from "@towpath/core/delivery/build";
import type { BuildStatus, BuildTrigger } from "@towpath/core/delivery/build/contract";
import { StatusDot, type Tone } from "~/ui/badge.tsx";

/** Labels and colours of the build statuses (BLD-1). */
const statusLooks: Readonly<Record<BuildStatus, { label: string; tone: Tone }>> = {
  queued: { label: "Queued", tone: "neutral" },
  building: { label: "Building", tone: "info" },
  succeeded: { label: "Succeeded", tone: "ok" },
  failed: { label: "Failed", tone: "bad" },
  canceled: { label: "Canceled", tone: "neutral" },
};

const triggerLabels: Readonly<Record<BuildTrigger, string>> = {
  quickstart: "Quickstart",
  import: "First import",
  push: "Push",
  redeploy: "Rebuild",
  cli: "Command line",
  promote: "Promotion",
  package: "Package",
};

/** What started a build. Only a fork's push has a person, who approved it (BLD-9). */
export const triggerLabel = ({ trigger, startedBy }: Pick<BuildSummary, "trigger" | "startedBy">): string =>
  trigger === "push" && startedBy !== null ? "Approved" : triggerLabels[trigger];

/** Whether a build of this status is still in progress. */
export const isRunning = (status: BuildStatus): boolean => status === "queued" || status === "building";

/** First line of a commit message, or a placeholder. */
export function commitTitle(message: string | null): string {
  return message?.split("\n", 1)[0]?.trim() || "No commit message";
}

/** How long a build took in milliseconds; null while it runs or when it never started. */
export function buildDuration(build: { startedAt: string | null; endedAt: string | null }): number | null {
  if (!build.startedAt || !build.endedAt) return null;
  return new Date(build.endedAt).getTime() - new Date(build.startedAt).getTime();
}

/** ", with 2 warnings", to append to a headline; empty without any. */
export function withWarnings(count: number): string {
  if (count === 0) return "";
  return count === 1 ? ", with a warning" : `, with ${count} warnings`;
}

type Shown = {
  readonly status: BuildStatus;
  readonly deployment?: { readonly isLive: boolean; readonly isProd?: boolean } | null;
  readonly approval?: BuildSummary["approval"];
  readonly release?: BuildSummary["release"];
};

/** What keeps a version from being live for all sessions, or kept it; null: nothing. */
function heldState({ status, deployment, approval, release }: Shown): { label: string; tone: Tone } | null {
  if (status !== "succeeded" || deployment?.isLive) return null;
  if (approval === "waiting") return { label: "Waits for approval", tone: "warn" };
  if (approval === "rejected") return { label: "Rejected", tone: "neutral" };
  if (release?.state === "running") return { label: `${release.share} % of new sessions`, tone: "info" };
  return release?.state === "went-back" ? { label: "Went back", tone: "warn" } : null;
}

/** A build's state: "live" takes precedence over "succeeded". */
export function buildState(build: Shown): string {
  const { status, deployment } = build;
  const held = heldState(build);
  if (held !== null) return held.label;
  if (status !== "succeeded" || !deployment?.isLive) return statusLooks[status].label;
  return deployment.isProd === false ? "Live preview" : "Live";
}

/** Dot and label of a build's state. Green only for a build without warnings. */
export function BuildStatusLabel({ build, warnings = 0 }: { build: Shown; warnings?: number }) {
  const { status } = build;
  const look = heldState(build) ?? statusLooks[status];
  return (
    <span className="inline-flex items-center gap-2 font-medium whitespace-nowrap">
      <StatusDot tone={warnings > 0 ? "warn" : look.tone} pulse={isRunning(status)} />
      {buildState(build)}
      {withWarnings(warnings)}
    </span>
  );
}
