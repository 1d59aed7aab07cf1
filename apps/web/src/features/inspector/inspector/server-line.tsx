import { useQuery } from "@tanstack/react-query";
import type { InstanceState } from "@towpath/core/delivery/deployment";
import type { Manifest } from "@towpath/mcp/manifest";
import { useEffect, useRef } from "react";
import { serverStatusQuery } from "~/features/project/delivery/status.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { instanceLooks } from "~/features/shared/project-screen/project-labels.tsx";
import { WaterLevel } from "~/ui/water-level.tsx";

type ServerLineProps = {
  manifest: Manifest;
  projectKey: ProjectKey;
  /** Null for servers that aren't built here, which have no sleep state. */
  branchId: string | null;
  /** Whether a call of this page is in progress. */
  isCalling: boolean;
};

/** The server's name, state, and instructions for models. */
export function ServerLine({ manifest, projectKey, branchId, isCalling }: ServerLineProps) {
  return (
    <div className="text-sm text-muted">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span>
          <span className="font-medium text-ink">{manifest.server.title ?? manifest.server.name}</span>{" "}
          {manifest.server.version}, MCP <code>{manifest.protocolVersion}</code>
        </span>
        {branchId !== null && <Runs projectKey={projectKey} branchId={branchId} isCalling={isCalling} />}
      </p>
      {manifest.instructions && (
        <details className="mt-1">
          <summary className="w-fit rounded-sm hover:text-ink">Instructions for the model</summary>
          <p className="scroll-thin mt-1 max-h-40 max-w-prose overflow-y-auto break-words whitespace-pre-line">
            {manifest.instructions}
          </p>
        </details>
      )}
    </div>
  );
}

type RunsProps = { projectKey: ProjectKey; branchId: string; isCalling: boolean };

function Runs({ projectKey, branchId, isCalling }: RunsProps) {
  const { data: status, refetch } = useQuery(serverStatusQuery({ key: projectKey, branchId }));
  const wasCalling = useRef(isCalling);
  // A call changes how the server is, when it begins and ends, sooner than the next poll.
  useEffect(() => {
    if (wasCalling.current !== isCalling) void refetch();
    wasCalling.current = isCalling;
  }, [isCalling, refetch]);
  if (!status?.live) return null;
  const look = lookOf(status.instance?.state ?? "stopped", isCalling);
  return (
    <span className="inline-flex items-center gap-1.5">
      <WaterLevel level={look.level} tone={look.tone} />
      <span className="text-ink">{look.label}.</span> {look.description}
    </span>
  );
}

/** The fetched state may be older than the call, which wakes the server. */
export function lookOf(state: InstanceState, isCalling: boolean): (typeof instanceLooks)[InstanceState] {
  if (!isCalling) return instanceLooks[state];
  const isUp = state === "awake" || state === "asleep";
  return { ...instanceLooks[isUp ? "awake" : "starting"], description: "A call is running." };
}
