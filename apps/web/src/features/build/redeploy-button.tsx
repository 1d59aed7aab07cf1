import { RotateCw } from "lucide-react";
import { Button, type ButtonLook } from "~/ui/button.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { useMay } from "../session/use-may.ts";
import { useRedeploy } from "./use-redeploy.ts";

/** A button that builds the same commit again (PRJ-13); nothing for a role that may not start builds. */
export function RedeployButton({
  project,
  buildId,
  label = "Redeploy",
  ...look
}: ButtonLook & { project: ProjectKey; buildId: string; label?: string }) {
  const redeploy = useRedeploy(project);
  const mayBuild = useMay("build.start");
  if (!mayBuild) return null;
  return (
    <Button
      {...look}
      busy={redeploy.isPending}
      icon={<RotateCw aria-hidden />}
      onClick={() => redeploy.mutate(buildId)}
    >
      {label}
    </Button>
  );
}
