import { Link } from "@tanstack/react-router";
import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import { BuildNewestButton } from "~/features/project/build/redeploy-button.tsx";
import type { BranchItem } from "~/features/project/delivery/deployment.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { RelativeTime } from "~/ui/time.tsx";

/** Says that the newest push to a branch built nothing, and offers to build it (BLD-15). */
export function SkippedPush({ project, branch }: { project: ProjectKey; branch: BranchItem }) {
  const { skipped } = branch;
  if (skipped === null) return null;
  const commit = skipped.commitMessage?.split("\n", 1)[0] || shortCommit(skipped.commitSha);
  return (
    <div className="flex w-full flex-wrap items-center gap-x-4 gap-y-2 border-t bg-sunken px-4 py-2.5 text-sm">
      <p className="min-w-0 flex-1 basis-64">
        <span className="font-medium break-words">{commit}</span> was not built: it changes none of the{" "}
        <Link
          to="/$orgSlug/$projectName/settings"
          params={project}
          hash="build"
          className="underline decoration-line-strong underline-offset-3 hover:decoration-current"
        >
          watch paths
        </Link>
        . <RelativeTime time={skipped.at} className="text-xs text-muted" />
      </p>
      <BuildNewestButton project={project} branch={branch.name} label="Build anyway" size="sm" />
    </div>
  );
}
