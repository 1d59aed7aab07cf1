import { useQuery } from "@tanstack/react-query";
import { CodeSteps } from "~/features/onboarding/source/code-steps.tsx";
import { forkOf } from "~/features/shared/project-screen/branch-title.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { cloneOf } from "~/features/shared/project-screen/source-names.ts";

/** How to change the code for the next version. Nothing for a package, and for a fork, which only its owner pushes. */
export function NextChange({ project, branch }: { project: ProjectKey; branch: string }) {
  const { data } = useQuery(projectQuery(project));
  const cloned = data ? cloneOf(data) : null;
  if (!data || !cloned || forkOf(branch) !== null) return null;
  return (
    <details className="border-t px-4 py-3">
      <summary className="w-fit rounded-sm text-sm font-medium">Change the code: clone, edit, push</summary>
      <div className="mt-2.5">
        <CodeSteps cloned={cloned} branch={branch} entrypoint={data.entrypoint} />
      </div>
    </details>
  );
}
