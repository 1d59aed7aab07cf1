import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Hammer, RotateCw } from "lucide-react";
import { dispatchBuild, redeploy } from "~/features/project/delivery/build.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button, type ButtonLook } from "~/ui/button.tsx";
import { failureText, toast } from "~/ui/toast.ts";

/** A button that builds the same commit again (PRJ-13); nothing for a role that may not start builds. */
export function RedeployButton({
  project,
  buildId,
  label = "Rebuild",
  ...look
}: ButtonLook & { project: ProjectKey; buildId: string; label?: string }) {
  const redeploy = useRedeploy(project);
  const mayBuild = useMay("build.start");
  if (!mayBuild) return null;
  return (
    <Button {...look} busy={redeploy.isPending} icon={<RotateCw />} onClick={() => redeploy.mutate(buildId)}>
      {label}
    </Button>
  );
}

/**
 * A button that builds the newest commit of a branch (default: the default branch, PRJ-18) or a version of a package
 * (default: the newest, BLD-17); nothing for roles that may not start builds.
 */
export function BuildNewestButton({
  project,
  branch,
  version,
  label = "Build newest commit",
  ...look
}: ButtonLook & { project: ProjectKey; branch?: string; version?: string; label?: string }) {
  const data = { ...project, ...(branch && { branch }), ...(version && { version }) };
  const dispatch = useNewBuild(project, () => dispatchBuild({ data }));
  if (!useMay("build.start")) return null;
  return (
    <Button {...look} busy={dispatch.isPending} icon={<Hammer />} onClick={() => dispatch.mutate("")}>
      {label}
    </Button>
  );
}

/** Starts a new build of an earlier build's commit and opens its page (PRJ-13). */
export const useRedeploy = (project: ProjectKey) => useNewBuild(project, (buildId) => redeploy({ data: { buildId } }));

/** Starts a build, given the id of an earlier one, and opens its page. */
function useNewBuild(project: ProjectKey, start: (buildId: string) => Promise<{ readonly id: string }>) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: start,
    onSuccess: async ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: projectQueryKey(project) });
      await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...project, buildId: id } });
    },
    onError: (error) => toast.error("Couldn't start the build.", { description: failureText(error) }),
  });
}
