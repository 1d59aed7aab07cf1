import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import type { ReactNode } from "react";
import { clientText, PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { AbsoluteTime } from "~/ui/absolute-time.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { type NamedSession, sessionUsageQuery } from "./analytics.functions.ts";
import { lengthOf } from "./session-table.tsx";
import { UsageTable } from "./usage-table.tsx";

/** A session: caller, client, and calls by item (PRJ-6). */
export function SessionPage({ projectKey, sessionId }: { projectKey: ProjectKey; sessionId: string }) {
  const { data } = useSuspenseQuery(sessionUsageQuery(projectKey, sessionId));
  const { session, usage } = data;
  return (
    <>
      <PageHeader
        above={
          <Breadcrumbs
            label="Sessions"
            items={[
              {
                key: "sessions",
                content: (
                  <Link to="/$orgSlug/$projectName/sessions" params={projectKey}>
                    Sessions
                  </Link>
                ),
              },
              { key: "session", content: clientText(session) },
            ]}
          />
        }
        title={clientText(session)}
        actions={
          <Link
            to="/$orgSlug/$projectName/logs"
            params={projectKey}
            search={{
              ...(session.session === null ? { user: session.principal.id } : { session: session.session }),
              timeRange: "30d",
              protocol: true,
            }}
            className={buttonLook()}
          >
            <ScrollText />
            {session.session ? "Calls in the log" : "This user's calls in the log"}
          </Link>
        }
      />
      <Card className="mb-3 p-4">
        <SessionFields projectKey={projectKey} session={session} />
      </Card>
      <Card>
        <CardHeader
          title="Usage"
          description={
            usage.counted < session.calls
              ? `The latest ${formatCount(usage.counted)} of ${formatCount(session.calls)} calls.`
              : "All calls of this session."
          }
        />
        {usage.data.length > 0 ? (
          <UsageTable rows={usage.data} />
        ) : (
          <EmptyState title="This session's calls are no longer in the log">
            The log deletes calls before it deletes their session.
          </EmptyState>
        )}
      </Card>
    </>
  );
}

function SessionFields({ projectKey, session }: { projectKey: ProjectKey; session: NamedSession }) {
  return (
    <dl className="grid gap-x-8 gap-y-3 text-sm sm:grid-cols-2 lg:grid-cols-3">
      <Field name="User">
        <Link
          to="/$orgSlug/$projectName/users/$userId"
          params={{ ...projectKey, userId: session.principal.id }}
          className="text-accent-text underline underline-offset-2"
        >
          <PrincipalLabel principal={session.principal} />
        </Link>
      </Field>
      <Field name="Client">{clientText(session)}</Field>
      <Field name="Protocol version">{session.protocolVersion ?? "Unknown"}</Field>
      <Field name="Session">
        {session.session ? (
          <code className="text-xs break-all">{session.session}</code>
        ) : (
          "Grouped from calls without a session id"
        )}
      </Field>
      <Field name="Calls">
        {formatCount(session.calls)}, {session.errors === 1 ? "1 error" : `${formatCount(session.errors)} errors`}
      </Field>
      <Field name="From first to last call">
        {formatDuration(lengthOf(session))}
        <span className="block text-xs text-muted">
          <AbsoluteTime time={session.firstSeen} /> to <AbsoluteTime time={session.lastSeen} />
        </span>
      </Field>
    </dl>
  );
}

function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="mt-0.5 break-words">{children}</dd>
    </div>
  );
}
