import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { failureText, toast } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.queries.ts";
import { redeploy } from "./build.functions.ts";

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
