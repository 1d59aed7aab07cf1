import { Link } from "@tanstack/react-router";
import type { ErrorPage, ErrorState } from "@towpath/core/operations/error-group/schema";
import { CircleCheck, SearchX } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";

type NoErrorsProps = {
  readonly projectKey: ProjectKey;
  readonly state: ErrorState;
  readonly isFiltered: boolean;
  readonly counts: ErrorPage["counts"];
  readonly onClear: () => void;
};

const example = `@mcp.tool
def forecast(city: str) -> str:
    return stations[city]  # KeyError: 'Nowhere'`;

/** Why the list is empty, and how an error would get there. */
export function NoErrors({ projectKey, state, isFiltered, counts, onClear }: NoErrorsProps) {
  if (isFiltered)
    return (
      <EmptyState
        icon={<SearchX />}
        title="No error matches"
        actions={<Button onClick={onClear}>Clear the filters</Button>}
      >
        Text is searched for in titles, tools, files and functions.
      </EmptyState>
    );
  if (state !== "open")
    return (
      <EmptyState icon={<CircleCheck />} title={state === "resolved" ? "Nothing is resolved" : "Nothing is ignored"}>
        {state === "resolved"
          ? "A resolved error comes back when a newer deployment fails in the same way."
          : "An ignored error is counted, but never reported."}
      </EmptyState>
    );
  const isUnused = counts.resolved + counts.ignored === 0;
  return (
    <EmptyState
      icon={<CircleCheck />}
      example={{ code: example, label: "example" }}
      docs={["alerts", "Alerts"]}
      title={isUnused ? "No errors so far" : "No open errors"}
      actions={
        <Link to="/$orgSlug/$projectName/inspector" params={projectKey} className={buttonLook()}>
          Call a tool
        </Link>
      }
    >
      When a tool raises, its calls appear here as one error, with the line of your code, the callers, and the
      deployment that brought it. This one would be “KeyError: 'Nowhere'” in <code>forecast</code>:
    </EmptyState>
  );
}
