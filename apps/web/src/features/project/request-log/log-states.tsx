import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { LogSearch } from "@towpath/logs/schema";
import { Activity, CloudOff, SearchX, TimerOff } from "lucide-react";
import { lazy, Suspense } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { failureText } from "~/ui/toast.ts";
import { isFiltered } from "./is-filtered.ts";
import { defaultLogSearch, timeRangeLabels, withFilters } from "./log-filters.ts";

// For lists that are still empty only.
const CallCommand = lazy(() => import("~/features/project/clients/call-command.tsx"));

type StateProps = {
  readonly projectKey: ProjectKey;
  readonly search: LogSearch;
  readonly onSearch: (search: LogSearch) => void;
};

/** Why there are no rows: the log could not be read, took too long, or a filter names an unknown person. */
export function LogFailure({
  error,
  onRetry,
  search,
  onSearch,
}: Omit<StateProps, "projectKey"> & { readonly error: Error; readonly onRetry: () => void }) {
  const clear = <Button onClick={() => onSearch(withFilters(search, defaultLogSearch))}>Clear the filters</Button>;
  if (isTowpathErrorCode(error, "invalid_input")) {
    return (
      <EmptyState icon={<SearchX />} title="This filter finds nothing" actions={clear}>
        {failureText(error)}
      </EmptyState>
    );
  }
  if (isTowpathErrorCode(error, "limit_reached")) {
    return (
      <EmptyState
        icon={<TimerOff />}
        title="Reading the log took too long"
        actions={
          <>
            {search.timeRange === "1h" ? null : (
              <Button onClick={() => onSearch({ ...search, timeRange: "1h", from: undefined, to: undefined })}>
                Show the last hour
              </Button>
            )}
            <Button onClick={onRetry}>Try again</Button>
          </>
        }
      >
        Towpath stopped it to keep the log fast for others. Choose a shorter time range, filter by tool: or client:, or
        search for a longer text.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<CloudOff />}
      title="Couldn't load the log"
      actions={<Button onClick={onRetry}>Try again</Button>}
    >
      {failureText(error)} Calls are still recorded.
    </EmptyState>
  );
}

type NoRowsProps = StateProps & {
  /** Number of hidden protocol messages; 0: none, or unknown. */
  readonly hidden: number;
  readonly onShowProtocol: () => void;
};

/** Shown if no row matches, or nobody called in the time range, or ever. */
export function NoRows({ projectKey, search, onSearch, hidden, onShowProtocol }: NoRowsProps) {
  if (isFiltered(search)) {
    return (
      <EmptyState
        icon={<SearchX />}
        title="No matching calls"
        actions={
          <>
            <Button onClick={() => onSearch(withFilters(search, defaultLogSearch))}>Clear the filters</Button>
            <LongerTime search={search} onSearch={onSearch} />
          </>
        }
      >
        Nothing matches in {periodText(search)}.
      </EmptyState>
    );
  }
  if (hidden > 0) {
    return (
      <EmptyState
        icon={<Activity />}
        title="Nobody called a tool yet"
        actions={<Button onClick={onShowProtocol}>Show protocol messages</Button>}
      >
        {hidden === 1 ? "1 protocol message" : `${hidden} protocol messages`}, such as handshakes and lists,{" "}
        {hidden === 1 ? "is" : "are"} hidden in {periodText(search)}.
      </EmptyState>
    );
  }
  return <FirstCall projectKey={projectKey} search={search} onSearch={onSearch} />;
}

const periodText = ({ from, timeRange }: LogSearch): string =>
  from === undefined ? `the ${timeRangeLabels[timeRange].toLowerCase()}` : "the chosen period";

function LongerTime({ search, onSearch }: Pick<StateProps, "search" | "onSearch">) {
  if (search.timeRange === "30d" && search.from === undefined) return null;
  return (
    <Button onClick={() => onSearch({ ...search, timeRange: "30d", from: undefined, to: undefined })}>
      Show the last 30 days
    </Button>
  );
}

function FirstCall({ projectKey, search, onSearch }: StateProps) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  if (!project.isLive) {
    return (
      <EmptyState
        icon={<Activity />}
        title="Nothing is live yet"
        actions={
          <Link to="/$orgSlug/$projectName/deployments" params={projectKey} className={buttonLook()}>
            Go to deployments
          </Link>
        }
      >
        Once a build succeeds, every call to the server appears here.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<Activity />}
      example={
        <Suspense>
          <CallCommand projectKey={projectKey} />
        </Suspense>
      }
      docs={["logs", "Logs"]}
      title={`No calls in ${periodText(search)}`}
      actions={
        <>
          <Link
            to="/$orgSlug/$projectName/inspector"
            params={projectKey}
            className={buttonLook({ variant: "primary" })}
          >
            Call a tool in the inspector
          </Link>
          <LongerTime search={search} onSearch={onSearch} />
        </>
      }
    >
      Each call appears here within two seconds. To make one from a terminal:
    </EmptyState>
  );
}
