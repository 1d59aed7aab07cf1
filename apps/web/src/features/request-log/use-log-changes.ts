import { useEffect, useState } from "react";
import { openLogConnection } from "../log-stream/log-connection.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";

const statsPauseMs = 5000;

/**
 * Calls `onRows` when the project's request log has changed and `onStats` at most every five seconds then, while `live`
 * and while the page can be seen; also when it can be seen again. Returns whether the page is being told: when not,
 * it has to ask.
 */
export function useLogChanges(
  { orgSlug, projectName }: ProjectKey,
  live: boolean,
  onRows: () => void,
  onStats: () => void,
): boolean {
  const [isTold, setIsTold] = useState(true);
  const isVisible = useIsVisible();

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions are new in each render and always do the same
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
    const close = openLogConnection(path, {
      onState: (state) => setIsTold(state === "open" || state === "connecting"),
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

  return isTold;
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
