import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CodeSteps } from "~/features/onboarding/source/code-steps.tsx";
import { forkOf } from "~/features/shared/project-screen/branch-title.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { cloneOf } from "~/features/shared/project-screen/source-names.ts";
import { useMay } from "~/features/shared/session/guards.ts";

/** How to change the code for the next version. Nothing for a package, and for a fork, which only its owner pushes. */
export function NextChange({ project, branch }: { project: ProjectKey; branch: string }) {
  const { data } = useQuery(projectQuery(project));
  const mayBuild = useMay("build.start");
  const cloned = data ? cloneOf(data) : null;
  if (!data || !cloned || forkOf(branch) !== null) return null;
  return (
    <details className="border-t px-4 py-3">
      <summary className="w-fit rounded-sm text-sm font-medium">Change the code: clone, edit, push</summary>
      <div className="mt-2.5 flex flex-col gap-2.5">
        {mayBuild && (
          <p className="text-sm text-muted">
            Or{" "}
            <Link
              to="/$orgSlug/$projectName/code"
              params={project}
              search={{ branch }}
              className="underline underline-offset-3 hover:text-ink"
            >
              edit it here
            </Link>
            .
          </p>
        )}
        <CodeSteps cloned={cloned} branch={branch} entrypoint={data.entrypoint} />
      </div>
    </details>
  );
}
