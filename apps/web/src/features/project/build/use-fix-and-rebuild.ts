import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { BuildView } from "@towpath/core/delivery/build";
import { redeploy } from "~/features/project/delivery/build.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { failureText, toast } from "~/ui/toast.ts";

/** Makes a change, then rebuilds the commit and opens the new build. */
export function useFixAndRebuild(project: ProjectKey, build: BuildView, change: () => Promise<unknown>) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      await change();
      return redeploy({ data: { buildId: build.id } });
    },
    onSuccess: async ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: projectQueryKey(project) });
      await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...project, buildId: id } });
    },
    onError: (error) => toast.error("Couldn't start the build.", { description: failureText(error) }),
  });
}
