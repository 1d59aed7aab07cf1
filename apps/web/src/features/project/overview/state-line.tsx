import type { ServerStatusView } from "@towpath/core/delivery/deployment";
import type { ProjectView } from "@towpath/core/projects/project";
import { rolledBackText } from "~/features/project/delivery/live-version.ts";
import { commitTitle, isRunning, withWarnings } from "~/features/shared/project-screen/build-status.tsx";
import { CommitLink } from "~/features/shared/project-screen/repository-links.tsx";
import { StatusDot, type Tone } from "~/ui/badge.tsx";
import { RelativeTime } from "~/ui/time.tsx";

/** One line: whether it is live, with which commit, since when, and who deployed it. */
export function StateLine({ project, status }: { project: ProjectView; status: ServerStatusView }) {
  const { live, latestBuild } = status;
  const state = stateOf(project, status);
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <StatusDot tone={state.tone} pulse={latestBuild !== null && !live && isRunning(latestBuild.status)} />
      <span className="font-medium text-ink">{state.label}</span>
      {live ? (
        <>
          <Dot />
          <span className="max-w-full truncate sm:max-w-96">{commitTitle(live.commitMessage)}</span>
          <CommitLink sha={live.commitSha} />
          <Dot />
          <RelativeTime time={live.since} />
          {live.commitAuthor ? (
            <>
              <Dot />
              <span>by {live.commitAuthor}</span>
            </>
          ) : null}
        </>
      ) : null}
    </span>
  );
}

const Dot = () => (
  <span aria-hidden className="text-faint">
    ·
  </span>
);

function stateOf(
  project: ProjectView,
  { branch, live, latestBuild, instance }: ServerStatusView,
): { label: string; tone: Tone } {
  if (branch === null)
    return project.isLive ? { label: "Live", tone: "ok" } : { label: "Not reachable", tone: "neutral" };
  if (live?.lost && instance?.state !== "awake") return { label: "Can't start", tone: "bad" };
  if (live && instance?.state === "crashed") return { label: "Crashed", tone: "bad" };
  if (live) {
    const warnings = branch.isDefault ? project.liveWarnings : 0;
    const label = live.isRolledBack ? rolledBackText(live) : "Live";
    const tone = warnings > 0 ? "warn" : live.isRolledBack ? "info" : "ok";
    return { label: `${label}${withWarnings(warnings)}`, tone };
  }
  if (latestBuild?.approval === "waiting") return { label: "Waits for approval", tone: "warn" };
  if (latestBuild && isRunning(latestBuild.status)) return { label: "First build is running", tone: "info" };
  if (latestBuild?.status === "failed") return { label: "Not live: the build failed", tone: "bad" };
  return { label: "Not live yet", tone: "neutral" };
}
