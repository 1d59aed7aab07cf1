import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { PrincipalView } from "@towpath/core/tenancy/organization";
import type { RequestLogEntry } from "@towpath/logs/schema";
import { SearchX } from "lucide-react";
import type { ReactNode } from "react";
import { PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Drawer } from "~/ui/drawer.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { ClockTime, formatBytes, formatDuration } from "~/ui/time.tsx";
import { failureText } from "~/ui/toast.ts";
import { CallFailure } from "./call-failure.tsx";
import { keptTexts } from "./kept-texts.ts";
import { ReplayLink } from "./replay-link.tsx";
import { RequestLines } from "./request-lines.tsx";
import { explainedQuery, type RequestExplanation, type ShownRequest } from "./request-log.functions.ts";
import { ClientLabel, exchangeName, OutcomeLabel } from "./request-table.tsx";
import { timesOf, waitsOf } from "./request-times.ts";

type RequestDetailProps = {
  projectKey: ProjectKey;
  id: string | null;
  row: ShownRequest | null;
  onClose: () => void;
};

/**
 * All details of a call, in a drawer beside the list, which stays usable. `row`: the list's row; null if the list
 * doesn't show it.
 */
export function RequestDetail({ projectKey, id, row, onClose }: RequestDetailProps) {
  const { data: explained, error } = useQuery({
    ...explainedQuery(projectKey, { id: id ?? "", time: row?.time }),
    enabled: id !== null,
  });
  const entry = row ?? explained ?? null;
  return (
    <Drawer
      open={id !== null}
      onOpenChange={(open) => !open && onClose()}
      modal={false}
      title={
        <span className="block truncate font-mono text-sm">
          {entry ? exchangeName(entry) : "Request"}
          <span className="text-accent-text"> {entry?.target}</span>
        </span>
      }
      actions={entry && <CopyButton text={() => JSON.stringify(explained ?? entry, null, 2)} label="Copy as JSON" />}
    >
      {entry ? (
        <Fields
          row={entry}
          projectKey={projectKey}
          explained={explained}
          failure={<CallFailure projectKey={projectKey} row={entry} explained={explained} />}
        >
          {explained ? <ReplayLink projectKey={projectKey} explained={explained} /> : null}
          <RequestLines projectKey={projectKey} explained={explained} error={error} />
          <Payloads explained={explained} />
        </Fields>
      ) : (
        <Unknown error={error} />
      )}
    </Drawer>
  );
}

/** A link may name a request that is gone, or not written yet. */
function Unknown({ error }: { error: Error | null }) {
  if (!error) return <SkeletonRows rows={6} label="Loading the request" />;
  return (
    <EmptyState icon={<SearchX />} title="This request is not in the log">
      {failureText(error)} It may be too old for the log, or belong to another server. New requests appear within two
      seconds.
    </EmptyState>
  );
}

type FieldsProps = {
  row: RequestLogEntry & { readonly caller: PrincipalView | null };
  projectKey: ProjectKey;
  explained: RequestExplanation | undefined;
  failure: ReactNode;
  children: ReactNode;
};

function Fields({ row, projectKey, explained, failure, children }: FieldsProps) {
  return (
    <div className="flex flex-col gap-5 text-sm">
      <div className="flex items-center justify-between gap-3">
        <OutcomeLabel entry={row} />
        <ClockTime time={row.time} className="tabular text-muted" />
      </div>
      {failure}
      <Times row={row} />
      <Group title="Message">
        <Field name="Kind">{row.kind === "other" ? exchangeName(row) : row.kind}</Field>
        <Field name="Method">{row.method ?? "None"}</Field>
        <Field name="Target">{row.target}</Field>
        <Field name="HTTP">
          {row.httpMethod} {row.httpStatus}
        </Field>
        {row.refusal !== null && (
          <Field name="Refused by gateway" copy>
            {row.refusal}
          </Field>
        )}
        {row.kept !== null && <Field name="Result">{keptTexts[row.kept]}</Field>}
        <Field name="Protocol version">{row.protocolVersion}</Field>
        <Field name="Bytes in">{formatBytes(row.requestBytes)}</Field>
        <Field name="Bytes out">{formatBytes(row.responseBytes)}</Field>
      </Group>
      <Group title="Caller">
        <Field name="Client">{row.client && <ClientLabel row={row} />}</Field>
        <Field name="User">
          {row.caller && (
            <Link
              to="/$orgSlug/$projectName/users/$userId"
              params={{ ...projectKey, userId: row.principal }}
              className="min-w-0 text-accent-text underline underline-offset-2"
            >
              <PrincipalLabel principal={row.caller} />
            </Link>
          )}
        </Field>
        <Field name="Principal" copy>
          {row.principal}
        </Field>
        <Field name="Session" copy>
          {row.session}
        </Field>
      </Group>
      <Group title="Server">
        <Field name="Deployment">
          <DeploymentLink projectKey={projectKey} row={row} explained={explained} />
        </Field>
        <Field name="Instance" copy>
          {row.instanceId}
        </Field>
      </Group>
      {children}
      <Group title="Reference">
        <Field name="Request id" copy>
          {row.requestId}
        </Field>
        <Field name="Trace id" copy>
          {row.traceId}
        </Field>
      </Group>
    </div>
  );
}

type DeploymentLinkProps = {
  projectKey: ProjectKey;
  row: RequestLogEntry;
  explained: RequestExplanation | undefined;
};

/** The commit that answered, with a link to its build. */
function DeploymentLink({ projectKey, row, explained }: DeploymentLinkProps) {
  if (row.deploymentId === null) return <span className="text-muted">None: it reached no deployment</span>;
  if (!explained) return <span className="text-muted">Loading…</span>;
  const { deployment } = explained;
  if (!deployment) return <span className="text-muted">Deleted</span>;
  return (
    <Link
      to="/$orgSlug/$projectName/build-logs/$buildId"
      params={{ ...projectKey, buildId: deployment.buildId }}
      className="min-w-0 wrap-anywhere text-accent-text underline underline-offset-2"
    >
      <code className="text-xs">{versionText(deployment)}</code>{" "}
      {deployment.commitMessage?.split("\n")[0] ?? `of ${deployment.branch}`}
    </Link>
  );
}

function Times({ row }: { row: RequestLogEntry }) {
  const { total, held, server, gateway } = timesOf(row);
  return (
    <Group title="Time">
      <Field name="Total">{formatDuration(total)}</Field>
      <Field name="In the server">{server === null ? null : formatDuration(server)}</Field>
      <Field name="In the gateway">{gateway === null ? null : formatDuration(gateway)}</Field>
      <Field name="Held">{held > 0 ? formatDuration(held) : "none"}</Field>
      {waitsOf(row).map(({ what, ms }) => (
        <Field key={what} name="Waited for">
          {what}
          {ms !== null && `, ${formatDuration(ms)}`}
        </Field>
      ))}
    </Group>
  );
}

function Payloads({ explained }: { explained: RequestExplanation | undefined }) {
  if (!explained) return null;
  const { requestPayload, responsePayload, requestTruncated, responseTruncated } = explained;
  return (
    <>
      <Payload title="Request payload" value={requestPayload} isTruncated={requestTruncated} />
      <Payload title="Response payload" value={responsePayload} isTruncated={responseTruncated} />
    </>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 text-xs font-medium text-muted">{title}</h3>
      <dl className="grid grid-cols-[10.5rem_minmax(0,1fr)] items-baseline gap-y-1 max-sm:grid-cols-[7.5rem_minmax(0,1fr)]">
        {children}
      </dl>
    </section>
  );
}

function Field({ name, copy = false, children }: { name: string; copy?: boolean; children: ReactNode }) {
  const known = children !== null && children !== "";
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="tabular flex min-w-0 items-center gap-1">
        {known ? (
          <span
            className={copy ? "min-w-0 truncate font-mono text-xs" : "min-w-0 wrap-anywhere"}
            title={copy && typeof children === "string" ? children : undefined}
          >
            {children}
          </span>
        ) : (
          <span className="text-faint">unknown</span>
        )}
        {copy && known && typeof children === "string" && <CopyButton text={children} label={`Copy ${name}`} />}
      </dd>
    </>
  );
}

function Payload({ title, value, isTruncated }: { title: string; value: unknown; isTruncated: boolean }) {
  if (value == null && !isTruncated) return null;
  return (
    <section>
      <h3 className="mb-1.5 text-xs font-medium text-muted">{title}</h3>
      {isTruncated && (
        <p className="mb-1.5 text-xs text-warn">
          {value == null ? "Too large to keep." : "Cut off: the log keeps the first 64 KiB."}
        </p>
      )}
      {value != null && (
        <div className="rounded-md border bg-sunken p-2">
          <JsonTree value={value} openTo={3} />
        </div>
      )}
    </section>
  );
}
