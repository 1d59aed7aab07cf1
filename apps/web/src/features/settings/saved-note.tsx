import { useSuspenseQuery } from "@tanstack/react-query";
import { Callout } from "~/ui/callout.tsx";
import { RedeployButton } from "../build/redeploy-button.tsx";
import { branchesQuery } from "../deployment/deployment.functions.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";

/** What was saved last. */
export type Saved = "build" | "access" | "variables" | null;

/** Says, once something was saved, when it counts, and offers the build that makes it count. */
export function SavedNote({
  projectKey,
  saved,
  of,
}: {
  projectKey: ProjectKey;
  saved: Saved;
  /** Which of them belong to the section that this note stands in. */
  of: readonly Saved[];
}) {
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const newest = branches.find((branch) => branch.isDefault)?.latestBuild ?? null;
  // The status is always there: what appears inside it is read out.
  return (
    <div role="status" className="empty:sr-only">
      {saved !== null && of.includes(saved) ? (
        <Callout
          tone="ok"
          title={saved === "access" ? "Saved. It counts from now on." : "Saved. It takes effect with the next build."}
          actions={
            saved !== "access" && newest ? (
              <RedeployButton project={projectKey} buildId={newest.id} label="Build again" variant="primary" />
            ) : null
          }
        >
          {saved === "variables"
            ? "A running server keeps its old variables until the next deployment or restart. "
            : null}
          {saved !== "access" && !newest ? "Nothing is pushed yet: the first push builds." : null}
        </Callout>
      ) : null}
    </div>
  );
}
