import { Link } from "@tanstack/react-router";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Card, CardHeader } from "~/ui/card.tsx";
import { classNames } from "~/ui/class-names.ts";
import { isAlarming } from "~/ui/error-count.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failuresSearch } from "./failures-search.ts";
import type { Overview } from "./overview.functions.ts";

type LatestFailuresProps = {
  overview: Overview | undefined;
  projectKey: ProjectKey;
  /** The branch of these calls; null: all. */
  branch: string | null;
};

/** Recent failures by kind, with their messages; each links to its row in the log. */
export function LatestFailures({ overview, projectKey, branch }: LatestFailuresProps) {
  return (
    <Card className="overflow-hidden">
      <CardHeader
        title="Latest failures"
        actions={
          overview && overview.failures.length > 0 ? (
            <Link
              to="/$orgSlug/$projectName/logs"
              params={projectKey}
              search={failuresSearch(overview, branch)}
              className="text-sm text-accent-text underline-offset-3 hover:underline"
            >
              All failures
            </Link>
          ) : null
        }
      />
      {overview ? null : <SkeletonRows rows={3} label="Loading failures" />}
      {overview?.failures.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">Nothing failed in the last 24 hours.</p>
      ) : null}
      {overview && overview.failures.length > 0 ? (
        <ul className="divide-y border-t">
          {overview.failures.map(({ id, time, what, message, count }) => (
            <li key={id} className="relative flex flex-col gap-0.5 px-4 py-2.5 text-sm hover:bg-hover/60">
              <span className="flex items-baseline gap-2">
                <Link
                  to="/$orgSlug/$projectName/logs"
                  params={projectKey}
                  search={{ status: "failed", request: id, ...(branch !== null && { branch }) }}
                  className="min-w-0 truncate font-mono text-xs font-medium underline-offset-3 after:absolute after:inset-0 hover:underline"
                >
                  {what}
                </Link>
                {count > 1 ? <span className="tabular shrink-0 text-xs text-muted">× {count}</span> : null}
                <RelativeTime time={time} className="ml-auto shrink-0 text-xs text-muted" />
              </span>
              <span className={classNames("line-clamp-2 break-words", isAlarming(overview.current) && "text-bad")}>
                {message}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
    </Card>
  );
}
