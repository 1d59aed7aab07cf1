import { Link } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";
import { replayOf } from "./replay.ts";
import type { RequestExplanation } from "./request-log.functions.ts";

/**
 * Links to the inspector with a captured call filled in (PRJ-20). The address names the request, not its arguments,
 * which would stay in the browser's history.
 */
export function ReplayLink({ projectKey, explained }: { projectKey: ProjectKey; explained: RequestExplanation }) {
  const mayCall = useMay("server.call");
  const replay = replayOf(explained);
  if (!replay || !mayCall) return null;
  const item = replay.tab === "tools" ? { tool: replay.name } : { prompt: replay.name };
  return (
    <Link
      to="/$orgSlug/$projectName/inspector"
      params={projectKey}
      search={{ tab: replay.tab, ...item, request: explained.id }}
      className={buttonLook({ size: "sm", className: "self-start" })}
    >
      <RotateCw className="size-4" />
      Replay in the inspector
    </Link>
  );
}
