import { useQuery } from "@tanstack/react-query";
import type { RequestLogEntry } from "@towpath/logs/schema";
import type { ReactNode } from "react";
import { Drawer } from "~/ui/drawer.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { formatAbsoluteTime, formatBytes, formatDuration } from "~/ui/time.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { CallFailure } from "./call-failure.tsx";
import { logEntryQuery } from "./request-log.functions.ts";
import { OutcomeLabel } from "./request-table.tsx";

/** All details of one call, in a drawer beside the list, which stays usable. */
export function RequestDetail({
  projectKey,
  row,
  onClose,
}: {
  projectKey: ProjectKey;
  row: RequestLogEntry | null;
  onClose: () => void;
}) {
  const { data: detail } = useQuery({
    ...logEntryQuery(projectKey, row ?? { id: "", time: "" }),
    enabled: row !== null,
  });
  return (
    <Drawer
      open={row !== null}
      onOpenChange={(open) => !open && onClose()}
      modal={false}
      title={
        <span className="block truncate font-mono text-sm">
          {row?.method ?? row?.httpMethod} <span className="text-accent-text">{row?.target}</span>
        </span>
      }
      actions={row && <CopyButton text={() => JSON.stringify(detail ?? row, null, 2)} label="Copy as JSON" />}
    >
      {row && (
        <Fields row={row} failure={<CallFailure projectKey={projectKey} row={row} detail={detail} />}>
          {detail?.requestPayload != null && <Payload title="Request payload" value={detail.requestPayload} />}
          {detail?.responsePayload != null && <Payload title="Response payload" value={detail.responsePayload} />}
        </Fields>
      )}
    </Drawer>
  );
}

function Fields({ row, failure, children }: { row: RequestLogEntry; failure: ReactNode; children: ReactNode }) {
  const own = Math.max(0, row.durationMs - row.heldMs);
  return (
    <div className="flex flex-col gap-5 text-sm">
      <div className="flex items-center justify-between gap-3">
        <OutcomeLabel entry={row} />
        <span className="text-muted">{formatAbsoluteTime(Date.parse(row.time))}</span>
      </div>
      {failure}
      <Group title="Time">
        <Field name="Total">{formatDuration(row.durationMs)}</Field>
        <Field name="Server and transport">{formatDuration(own)}</Field>
        <Field name="Held for start or wake">{row.heldMs > 0 ? formatDuration(row.heldMs) : "none"}</Field>
      </Group>
      <Group title="Message">
        <Field name="Kind">{row.kind}</Field>
        <Field name="Method">{row.method}</Field>
        <Field name="Target">{row.target}</Field>
        <Field name="HTTP">
          {row.httpMethod} {row.httpStatus}
        </Field>
        <Field name="Protocol version">{row.protocolVersion}</Field>
        <Field name="Request">{formatBytes(row.requestBytes)}</Field>
        <Field name="Response">{formatBytes(row.responseBytes)}</Field>
      </Group>
      <Group title="Caller">
        <Field name="Client">{row.client}</Field>
        <Field name="Principal" copy>
          {row.principal}
        </Field>
        <Field name="Session" copy>
          {row.session}
        </Field>
      </Group>
      <Group title="Reference">
        <Field name="Request id" copy>
          {row.id}
        </Field>
        <Field name="Deployment" copy>
          {row.deploymentId}
        </Field>
        <Field name="Trace id" copy>
          {row.traceId}
        </Field>
      </Group>
      {children}
    </div>
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

function Payload({ title, value }: { title: string; value: unknown }) {
  return (
    <section>
      <h3 className="mb-1.5 text-xs font-medium text-muted">{title}</h3>
      <div className="rounded-md border bg-sunken p-2">
        <JsonTree value={value} openTo={3} />
      </div>
    </section>
  );
}
