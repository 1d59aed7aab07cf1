import { Link } from "@tanstack/react-router";
import type { RecentErrors } from "@towpath/core/operations/error-group";
import { CircleAlert } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Badge } from "~/ui/badge.tsx";
import { classNames } from "~/ui/class-names.ts";
import { formatCount } from "~/ui/figure.tsx";
import { RelativeTime } from "~/ui/time.tsx";

type ErrorStripProps = {
  readonly projectKey: ProjectKey;
  readonly errors: RecentErrors;
  readonly tone: "bad" | "warn";
};

const looks = {
  bad: { border: "border-bad/40", header: "bg-bad-soft", icon: "text-bad" },
  warn: { border: "border-warn/40", header: "bg-warn-soft", icon: "text-warn" },
} as const;

/** What is wrong now: open errors that are new or came back within a day (CAP-6). */
export function ErrorStrip({ projectKey, errors: { total, data }, tone }: ErrorStripProps) {
  if (total === 0) return null;
  const look = looks[tone];
  return (
    <section
      aria-label="Errors of the last 24 hours"
      className={classNames("overflow-hidden rounded-lg border bg-surface", look.border)}
    >
      <header className={classNames("flex flex-wrap items-center gap-2 px-4 py-2 text-sm", look.header)}>
        <CircleAlert className={classNames("size-4", look.icon)} aria-hidden />
        <h2 className="font-medium">
          {total === 1 ? "1 error is new or back" : `${formatCount(total)} errors are new or back`}
        </h2>
        <Link
          to="/$orgSlug/$projectName/errors"
          params={projectKey}
          className="ml-auto text-accent-text underline-offset-3 hover:underline"
        >
          All errors
        </Link>
      </header>
      <ul className="divide-y">
        {data.map(({ id, title, target, method, isBack, count, lastSeen }) => (
          <li key={id} className="relative flex min-w-0 items-baseline gap-2 px-4 py-2 text-sm hover:bg-hover/60">
            <Link
              to="/$orgSlug/$projectName/errors/$errorId"
              params={{ ...projectKey, errorId: id }}
              className="min-w-0 truncate font-medium underline-offset-3 after:absolute after:inset-0 hover:underline"
            >
              {title}
            </Link>
            {isBack ? <Badge tone={tone}>Back again</Badge> : null}
            <code className="min-w-0 truncate text-xs text-muted max-sm:hidden">{target ?? method}</code>
            <span className="tabular ml-auto shrink-0 text-xs text-muted">
              × {formatCount(count)} · <RelativeTime time={lastSeen} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
