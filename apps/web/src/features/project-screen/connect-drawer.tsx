import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useOpenBranch } from "~/features/app-shell/shell-location.ts";
import { buildQuery } from "~/features/build/build.functions.ts";
import { branchesQuery } from "~/features/deployment/deployment.functions.ts";
import { Drawer } from "~/ui/drawer.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { branchTitle } from "./branch-title.ts";
import { ConnectPanel } from "./connect-panel.tsx";
import type { ProjectKey } from "./project-key.schema.ts";
import { projectQuery } from "./project-screen.functions.ts";

/** How to connect a client to the server; on the page of a preview, to the preview. */
export function ConnectDrawer({
  projectKey,
  branchId: chosen,
  open,
  onOpenChange,
}: {
  readonly projectKey: ProjectKey;
  readonly branchId?: string | undefined;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}) {
  const openBranch = useOpenBranch();
  const { buildId } = useParams({ strict: false });
  const { data: build } = useQuery({
    ...buildQuery(projectKey, buildId ?? ""),
    enabled: open && chosen === undefined && buildId !== undefined,
  });
  const branchId = chosen ?? openBranch ?? build?.branch.id ?? null;
  const { data: project } = useQuery(projectQuery(projectKey));
  const { data: branches } = useQuery({ ...branchesQuery(projectKey), enabled: open && branchId !== null });
  const branch = branches?.find(({ id, isDefault }) => id === branchId && !isDefault);
  const isKnown = project && (branchId === null || branches);
  const name = project?.name ?? projectKey.projectName;
  return (
    <Drawer
      open={open}
      onOpenChange={onOpenChange}
      title={branch ? `Connect to ${branchTitle(branch.name)} of ${name}` : `Connect to ${name}`}
      className="w-[min(38rem,100vw)]"
    >
      {isKnown ? <ConnectPanel project={project} preview={branch ?? null} /> : <SkeletonRows rows={4} />}
    </Drawer>
  );
}
