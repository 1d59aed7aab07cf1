import { useQueryClient } from "@tanstack/react-query";
import type { SourceView } from "@towpath/core/sources/source";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { sourceQuery } from "./source.functions.ts";

/** Runs a change or check of a Git repository, shows its new state at once, and keeps the problems. */
export function useSourceChange(projectKey: ProjectKey) {
  const queryClient = useQueryClient();
  const { problems, busy, run } = useSubmit();
  const apply = (work: () => Promise<SourceView>) =>
    run(async () => {
      const view = await work();
      queryClient.setQueryData(sourceQuery(projectKey).queryKey, view);
      // Lists and headings show the source, too.
      await queryClient.invalidateQueries({ queryKey: projectQuery(projectKey).queryKey });
    });
  return { busy, failure: Object.values(problems)[0] ?? null, apply };
}
