import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { BranchItem } from "~/features/project/delivery/deployment.functions.ts";
import { isRunning } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { NoBuildsDrawing } from "~/ui/drawings.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";

type NothingLiveProps = {
  projectKey: ProjectKey;
  /** The branch that the address names; null: none. */
  named: BranchItem | "unknown" | null;
  branches: readonly BranchItem[];
};

/** Shows why there is nothing to call: no such branch, a running or failed build, or no build. */
export function NothingLive({ projectKey, named, branches }: NothingLiveProps) {
  const toDeployments = (
    <Link to="/$orgSlug/$projectName/deployments" params={projectKey} className={buttonLook()}>
      Go to deployments
    </Link>
  );
  if (named === "unknown") {
    return (
      <Callout tone="warn" title="Branch not found" actions={toDeployments}>
        The branch was deleted, or belongs to another server. Choose a branch in the bar above.
      </Callout>
    );
  }
  const branch = named ?? branches.find(({ isDefault }) => isDefault) ?? null;
  const build = branch?.latestBuild ?? null;
  const toBuild = build && (
    <Link
      to="/$orgSlug/$projectName/build-logs/$buildId"
      params={{ ...projectKey, buildId: build.id }}
      className={buttonLook({ variant: "primary" })}
    >
      Open build log
    </Link>
  );
  const say = (title: string, text: string, actions: ReactNode) => (
    <EmptyState drawing={<NoBuildsDrawing />} title={title} actions={actions}>
      {text}
    </EmptyState>
  );
  if (build && isRunning(build.status)) {
    return say(`${branch?.name} is being built`, "The inspector opens here as soon as it is live.", toBuild);
  }
  if (build?.status === "failed") {
    return say(`${branch?.name} isn't live: its build failed`, "Its log names the cause and what to do.", toBuild);
  }
  if (named) return say(`${named.name} isn't live`, "Deploy it to call its tools here.", toDeployments);
  return say(
    "Nothing is live yet",
    "Once a build succeeds, you can call its tools, resources and prompts here.",
    toDeployments,
  );
}
