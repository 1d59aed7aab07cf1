import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { DeployedCommit } from "@towpath/core/delivery/deployment";
import type { ReactNode } from "react";
import { PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Badge } from "~/ui/badge.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { Sparkline } from "~/ui/sparkline.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { ErrorActions } from "./error-actions.tsx";
import { ErrorSource } from "./error-source.tsx";
import { Freshness, Place } from "./error-table.tsx";
import { errorQuery, type ShownError } from "./errors.functions.ts";
import { SampleCalls } from "./sample-calls.tsx";
import { useChangeErrors } from "./use-change-errors.ts";

/** One error: where it was raised, since when, for whom, and calls to look at and repeat (CAP-6). */
export function ErrorDetailPage({ projectKey, errorId }: { projectKey: ProjectKey; errorId: string }) {
  const { data: error } = useSuspenseQuery(errorQuery(projectKey, errorId));
  const mayChange = useMay("project.update");
  const { change, isPending } = useChangeErrors(projectKey, error.state);
  return (
    <>
      <PageHeader
        above={
          <Breadcrumbs
            items={[
              {
                key: "errors",
                content: (
                  <Link to="/$orgSlug/$projectName/errors" params={projectKey}>
                    Errors
                  </Link>
                ),
              },
              { key: "error", content: error.exception ?? error.target ?? "Error" },
            ]}
          />
        }
        title={error.title}
        description={
          <span className="flex flex-wrap items-center gap-2">
            <Place error={error} className="min-w-0 break-words" />
            <State error={error} />
          </span>
        }
        actions={
          mayChange ? (
            <ErrorActions
              state={error.state}
              busy={isPending}
              onChange={(state) => change({ ids: [error.id], state })}
            />
          ) : null
        }
      />
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-5">
          <ErrorSource projectKey={projectKey} error={error} />
          <SampleCalls projectKey={projectKey} error={error} />
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <Course projectKey={projectKey} error={error} />
          <Shares title="Callers" hasMore={error.hasMoreCallers}>
            {error.callers.map(({ caller, principal, count }) => (
              <Share key={principal} count={count}>
                <Link
                  to="/$orgSlug/$projectName/users/$userId"
                  params={{ ...projectKey, userId: principal }}
                  className="flex min-w-0 underline-offset-2 hover:underline"
                >
                  <PrincipalLabel principal={{ ...caller, email: null }} />
                </Link>
              </Share>
            ))}
          </Shares>
          <Shares title="Clients" hasMore={error.hasMoreClients}>
            {error.clients.map(({ name, count }) => (
              <Share key={name} count={count}>
                {name}
              </Share>
            ))}
          </Shares>
        </div>
      </div>
    </>
  );
}

function State({ error }: { readonly error: ShownError }) {
  if (error.state === "resolved") return <Badge tone="ok">Resolved</Badge>;
  if (error.state === "ignored") return <Badge>Ignored</Badge>;
  return <Freshness error={error} />;
}

/** How often and since when, and which deployment brought it. */
function Course({ projectKey, error }: { readonly projectKey: ProjectKey; readonly error: ShownError }) {
  const lastDay = error.lastDay.reduce((sum, each) => sum + each, 0);
  return (
    <Card>
      <CardHeader title={error.count === 1 ? "1 failure" : `${formatCount(error.count)} failures`} />
      <CardBody className="flex flex-col gap-3 text-sm">
        <figure>
          <Sparkline values={error.lastMonth} tone="bad" className="h-10" />
          <figcaption className="mt-1 text-xs text-muted">
            By day, the last 30 days. {formatCount(lastDay)} in the last 24 hours.
          </figcaption>
        </figure>
        <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] items-baseline gap-y-1.5">
          <dt className="text-muted">First seen</dt>
          <dd>
            <RelativeTime time={error.firstSeen} />
          </dd>
          <dt className="text-muted">Last seen</dt>
          <dd>
            <RelativeTime time={error.lastSeen} />
          </dd>
          <dt className="text-muted">Brought by</dt>
          <dd>
            <Version projectKey={projectKey} id={error.firstDeploymentId} commit={error.first} />
          </dd>
          {error.lastDeploymentId === error.firstDeploymentId ? null : (
            <>
              <dt className="text-muted">Last in</dt>
              <dd>
                <Version projectKey={projectKey} id={error.lastDeploymentId} commit={error.last} />
              </dd>
            </>
          )}
        </dl>
      </CardBody>
    </Card>
  );
}

type VersionProps = {
  readonly projectKey: ProjectKey;
  readonly id: string | null;
  /** Null: removed. */
  readonly commit: DeployedCommit | null;
};

/** A deployment, with a link to its build. */
function Version({ projectKey, id, commit }: VersionProps) {
  if (id === null) return <span className="text-muted">No deployment of this instance</span>;
  if (commit === null) return <span className="text-muted">A removed deployment</span>;
  return (
    <Link
      to="/$orgSlug/$projectName/build-logs/$buildId"
      params={{ ...projectKey, buildId: commit.buildId }}
      className="wrap-anywhere text-accent-text underline underline-offset-2"
    >
      <code className="text-xs">{versionText(commit)}</code>{" "}
      {commit.commitMessage?.split("\n")[0] ?? `of ${commit.branch}`}
    </Link>
  );
}

type SharesProps = { readonly title: string; readonly hasMore: boolean; readonly children: readonly ReactNode[] };

function Shares({ title, hasMore, children }: SharesProps) {
  return (
    <Card>
      <CardHeader
        title={title}
        actions={
          <span className="tabular text-sm text-muted">
            {children.length}
            {hasMore ? "+" : ""}
          </span>
        }
      />
      <CardBody>
        {children.length === 0 ? (
          <p className="text-sm text-muted">None gave its name.</p>
        ) : (
          <ul className="scroll-thin flex max-h-48 flex-col gap-1 overflow-y-auto text-sm">{children}</ul>
        )}
      </CardBody>
    </Card>
  );
}

function Share({ count, children }: { readonly count: number; readonly children: ReactNode }) {
  return (
    <li className="flex min-w-0 items-center justify-between gap-3">
      <span className="min-w-0 truncate">{children}</span>
      <span className="tabular shrink-0 text-muted">{formatCount(count)}</span>
    </li>
  );
}
