import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitBranch, SquareTerminal } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { branchesQuery } from "../deployment/deployment.functions.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { inspectedBranch } from "./inspector.functions.ts";
import type { InspectorSearch } from "./inspector-search.ts";
import { InspectorWorkbench } from "./inspector-workbench.tsx";
import { useReplay } from "./use-replay.ts";

type SearchChange = (change: Partial<InspectorSearch>) => void;

/** Call a server's tools, read its resources, get its prompts (PRJ-4). */
export function InspectorPage({
  projectKey,
  search,
  onSearch,
}: {
  projectKey: ProjectKey;
  search: InspectorSearch;
  onSearch: SearchChange;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const { replay, deploymentId, problem } = useReplay(projectKey, search);
  const branch = inspectedBranch(branches, search.branchId, deploymentId);
  const live = branches.filter((each) => each.deployment !== null);
  return (
    <>
      <PageHeader
        title="Inspector"
        description="Call the live server as any client would. Each call appears in the logs."
        actions={
          branch &&
          live.length > 1 && (
            <Select
              aria-label="Branch"
              prefix={<GitBranch aria-hidden />}
              className="w-56"
              value={branch.id}
              onChange={(branchId) => onSearch({ branchId })}
              options={live.map((each) => ({
                value: each.id,
                label: each.name,
                note: each.isDefault ? "production" : "preview",
              }))}
            />
          )
        }
      />
      {problem && (
        <Callout tone="warn" className="mb-4" title="The call can't be replayed">
          {problem}
        </Callout>
      )}
      {branch?.deployment || project.kind !== "hosted" ? (
        <InspectorWorkbench
          key={branch?.id}
          projectKey={projectKey}
          branchId={branch?.id ?? null}
          deploymentId={branch?.deployment?.id ?? null}
          search={search}
          onSearch={onSearch}
          replay={replay}
        />
      ) : (
        <EmptyState
          icon={<SquareTerminal aria-hidden />}
          title="Nothing is live yet"
          actions={
            <Link to="/$orgSlug/$projectName/deployments" params={projectKey} className={buttonLook()}>
              Go to deployments
            </Link>
          }
        >
          As soon as a build has succeeded, its tools, resources and prompts can be called here.
        </EmptyState>
      )}
    </>
  );
}
