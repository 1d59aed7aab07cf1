import { skipToken, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";
import { use } from "react";
import { type BranchItem, branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { chosenBranch, replayedBranch } from "~/features/project/deployment/chosen-branch.ts";
import type { Replay } from "~/features/project/request-log/replay.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Callout } from "~/ui/callout.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { failureText } from "~/ui/toast.ts";
import type { InspectorSearch } from "./inspector-search.ts";
import { InspectorWorkbench } from "./inspector-workbench.tsx";

const NothingLive = lazyPart(async () => (await import("./nothing-live.tsx")).NothingLive);

type SearchChange = (change: Partial<InspectorSearch>) => void;

type InspectorPageProps = {
  projectKey: ProjectKey;
  search: InspectorSearch;
  onSearch: SearchChange;
};

/** Call a server's tools, read its resources, get its prompts (PRJ-4). */
export function InspectorPage({ projectKey, search, onSearch }: InspectorPageProps) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const { replay, deploymentId, problem } = useReplay(projectKey, search);
  const chosen = chosenBranch(branches, replayedBranch(branches, search, deploymentId));
  const { branch } = chosen;
  return (
    // From 1024 px on, as high as the window, with scrolling panes.
    <div className="-mb-6 flex flex-col gap-3 pb-4 lg:h-[calc(100dvh-5.75rem)] lg:min-h-[36rem]">
      <PageHeader
        title="Inspector"
        description="Call the live server as any client would. Each call appears in the logs."
        className="mb-0"
        actions={branch && <BranchSelect branches={branches} value={branch.id} onSearch={onSearch} />}
      />
      {problem && (
        <Callout tone="warn" title="The call can't be replayed">
          {problem}
        </Callout>
      )}
      {branch || project.kind !== "hosted" ? (
        <InspectorWorkbench
          key={branch?.id}
          projectKey={projectKey}
          branch={branch && { id: branch.id, deploymentId: branch.deployment.id, url: branch.deployment.url }}
          search={search}
          onSearch={onSearch}
          replay={replay}
        />
      ) : (
        <NothingLive
          projectKey={projectKey}
          named={
            search.branchId === undefined ? null : (branches.find(({ id }) => id === search.branchId) ?? "unknown")
          }
          branches={branches}
        />
      )}
    </div>
  );
}

type BranchSelectProps = {
  branches: readonly BranchItem[];
  value: string;
  onSearch: SearchChange;
};

function BranchSelect({ branches, value, onSearch }: BranchSelectProps) {
  const live = branches.filter((each) => each.deployment !== null);
  if (live.length < 2) return null;
  return (
    <Select
      aria-label="Branch"
      prefix={<GitBranch />}
      className="w-56"
      value={value}
      onChange={(branchId) => onSearch({ branchId })}
      options={live.map((each) => ({
        value: each.id,
        label: each.name,
        detail: each.isDefault ? "production" : "preview",
      }))}
    />
  );
}

type Found = {
  /** The call to fill in; null for none. */
  readonly replay: Replay | null;
  /** The deployment that served it, whose branch to call. */
  readonly deploymentId: string | null;
  /** Why the named call can't be replayed. */
  readonly problem: string | null;
};

const none: Found = { replay: null, deploymentId: null, problem: null };

let loaded: ReturnType<typeof loadLog> | undefined;

/** What reads a call of the log, which few visits of this page need. One promise for all renders. */
function logOnce() {
  loaded ??= loadLog().catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  return loaded;
}

async function loadLog() {
  const [{ explainedQuery }, { replayOf }] = await Promise.all([
    import("~/features/project/request-log/request-log.functions.ts"),
    import("~/features/project/request-log/replay.ts"),
  ]);
  return { explainedQuery, replayOf };
}

/** The call of the request log that the address names (PRJ-20). The route's loader has read it before the first render. */
function useReplay(projectKey: ProjectKey, { request }: Pick<InspectorSearch, "request">): Found {
  const log = request === undefined ? null : use(logOnce());
  const query = log?.explainedQuery(projectKey, { id: request ?? "" });
  const { data, error } = useQuery({
    ...(query ?? ({ queryKey: ["no-call"], queryFn: skipToken } as unknown as NonNullable<typeof query>)),
    enabled: log !== null,
    retry: false,
  });
  if (!log || (!data && !error)) return none;
  if (!data) return { ...none, problem: failureText(error) };
  const replay = log.replayOf(data);
  const problem = replay ? null : "The log didn't keep all of its arguments.";
  return { replay, deploymentId: data.deploymentId, problem };
}
