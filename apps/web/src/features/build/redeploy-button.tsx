import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { Button, type ButtonLook } from "~/ui/button.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { useMay } from "../session/guards.ts";
import { redeploy } from "./build.functions.ts";

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

/** Starts a new build of an earlier build's commit and opens its page (PRJ-13). */
export function useRedeploy(project: ProjectKey) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (buildId: string) => redeploy({ data: { buildId } }),
    onSuccess: async ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: projectQueryKey(project) });
      await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...project, buildId: id } });
    },
    onError: (error) => toast.error("The build could not be started.", { description: failureText(error) }),
  });
}
