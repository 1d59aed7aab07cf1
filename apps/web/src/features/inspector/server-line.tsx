import { useQuery } from "@tanstack/react-query";
import type { Manifest } from "@towpath/mcp/manifest";
import { WaterLevel } from "~/ui/water-level.tsx";
import { serverStatusQuery } from "../overview/overview.functions.ts";
import { instanceLooks } from "../overview/server-facts.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";

/** Which server it is, whether it runs, and what it tells models. */
export function ServerLine({
  manifest,
  projectKey,
  branchId,
}: {
  manifest: Manifest;
  projectKey: ProjectKey;
  /** Null: of a server that isn't built here, which is never asleep for us. */
  branchId: string | null;
}) {
  return (
    <div className="text-sm text-muted">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span>
          <span className="font-medium text-ink">{manifest.server.title ?? manifest.server.name}</span>{" "}
          {manifest.server.version}, MCP <code>{manifest.protocolVersion}</code>
        </span>
        {branchId !== null && <Runs projectKey={projectKey} branchId={branchId} />}
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

function Runs({ projectKey, branchId }: { projectKey: ProjectKey; branchId: string }) {
  const { data: status } = useQuery(serverStatusQuery({ key: projectKey, branchId }));
  if (!status?.live) return null;
  const look = instanceLooks[status.instance?.state ?? "stopped"];
  return (
    <span className="inline-flex items-center gap-1.5">
      <WaterLevel level={look.level} tone={look.tone} />
      <span className="text-ink">{look.label}.</span> {look.note}
    </span>
  );
}
