import { useSuspenseQuery } from "@tanstack/react-query";
import { Callout } from "~/ui/callout.tsx";
import { RedeployButton } from "../build/redeploy-button.tsx";
import { branchesQuery } from "../deployment/deployment.functions.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";

/** What was last saved. */
export type Saved = "build" | "access" | "variables" | null;

/** After saving, says when the change takes effect and offers the build that it needs. */
export function SavedNote({
  projectKey,
  saved,
  of,
}: {
  projectKey: ProjectKey;
  saved: Saved;
  /** The changes that belong to this note's section. */
  of: readonly Saved[];
}) {
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const newest = branches.find((branch) => branch.isDefault)?.latestBuild ?? null;
  // Always rendered, so that screen readers announce what appears in it.
  return (
    <div role="status" className="empty:sr-only">
      {saved !== null && of.includes(saved) ? (
        <Callout
          tone="ok"
          title={saved === "access" ? "Saved. It applies from now on." : "Saved. It takes effect with the next build."}
          actions={
            saved !== "access" && newest ? (
              <RedeployButton project={projectKey} buildId={newest.id} label="Build again" variant="primary" />
            ) : null
          }
        >
          {saved === "variables" ? "The live server keeps its old variables until the next deployment. " : null}
          {saved !== "access" && !newest ? "Nothing has been pushed yet. The first push starts a build." : null}
        </Callout>
      ) : null}
    </div>
  );
}
