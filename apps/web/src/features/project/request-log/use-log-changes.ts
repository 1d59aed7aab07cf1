import { useEffect, useState } from "react";
import { openLogConnection } from "~/features/shared/log-stream/log-connection.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

const statsPauseMs = 5000;

/**
 * While `live` and the page is visible, calls `onRows` when the project's request log changes, and `onStats` too, at most
 * every five seconds. Also calls both when it has changed while the page wasn't visible. Returns false when no change events arrive
 * and the caller must poll.
 */
export function useLogChanges(
  { orgSlug, projectName }: ProjectKey,
  live: boolean,
  onRows: () => void,
  onStats: () => void,
): boolean {
  const [isNotified, setIsNotified] = useState(true);
  const isVisible = useIsVisible();

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions change identity with each render but not behavior
  useEffect(() => {
    if (!live || !isVisible) return;
    let statsTimer: ReturnType<typeof setTimeout> | undefined;
    let areStatsDue = false;
    const refreshStats = () => {
      areStatsDue = statsTimer !== undefined;
      if (areStatsDue) return;
      onStats();
      statsTimer = setTimeout(() => {
        statsTimer = undefined;
        if (areStatsDue) refreshStats();
      }, statsPauseMs);
    };
    const path = `/api/projects/${encodeURIComponent(orgSlug)}/${encodeURIComponent(projectName)}/request-log-changes`;
    // What is shown is as old as the document, or newer. By a clock that goes on while the machine sleeps.
    const ageMs = () => Math.ceil(Math.max(1, Date.now() - performance.timeOrigin));
    const close = openLogConnection(() => `${path}?age=${ageMs()}`, {
      onState: (state) => setIsNotified(state === "open" || state === "connecting"),
      onProblem: () => {},
      onEvent: () => {
        onRows();
        refreshStats();
      },
    });
    return () => {
      clearTimeout(statsTimer);
      close();
    };
  }, [orgSlug, projectName, live, isVisible]);

  return isNotified;
}

function useIsVisible(): boolean {
  const [isVisible, setIsVisible] = useState(true);
  useEffect(() => {
    const update = () => setIsVisible(document.visibilityState === "visible");
    update();
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return isVisible;
}
