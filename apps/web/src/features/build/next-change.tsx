import { useQuery } from "@tanstack/react-query";
import { forkOf } from "../project-screen/branch-title.ts";
import { CodeSteps } from "../project-screen/code-steps.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { cloneOf } from "../source/source-names.ts";

/** From a build to the code, for the next version. Nothing for a package, and for a fork, which is pushed by its owner. */
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
