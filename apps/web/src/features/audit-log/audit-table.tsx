import { Link } from "@tanstack/react-router";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import type { ShownEntry } from "./audit-log.functions.ts";

/** Entries of the audit log, newest first. */
export function AuditTable({
  entries,
  orgSlug,
}: {
  readonly entries: readonly ShownEntry[];
  readonly orgSlug: string;
}) {
  return (
    <Table label="Audit log">
      <TableHead>
        <Th>When</Th>
        <Th>Who</Th>
        <Th>What</Th>
        <Th>From</Th>
      </TableHead>
      <TableBody>
        {entries.map((entry) => (
          <Tr key={entry.id} className="align-top">
            <Td label="When" className="tabular align-top whitespace-nowrap text-muted">
              <RelativeTime time={entry.at} />
            </Td>
            <Td label="Who" className="align-top">
              <span className="font-medium" title={entry.actor.email ?? undefined}>
                {entry.actor.name}
              </span>
            </Td>
            <Td wide className="w-full align-top">
              <What entry={entry} orgSlug={orgSlug} />
            </Td>
            <Td label="From" className="align-top font-mono text-xs whitespace-nowrap text-muted">
              {entry.ipAddress ?? "–"}
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}

/** In words, with a link to what it is about, and the details as they are stored. */
function What({ entry, orgSlug }: { readonly entry: ShownEntry; readonly orgSlug: string }) {
  return (
    <div className="min-w-0">
      <span className="break-words">{entry.text}</span> <AboutLink entry={entry} orgSlug={orgSlug} />
      <details className="mt-0.5 text-xs text-muted">
        <summary className="w-fit cursor-pointer rounded-sm select-none hover:text-ink">Details</summary>
        <dl className="mt-1.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
          <dt>Action</dt>
          <dd className="font-mono break-all">{entry.action}</dd>
          <dt>Subject</dt>
          <dd className="font-mono break-all">{entry.subject ?? "–"}</dd>
          <dt>By</dt>
          <dd className="font-mono break-all">{entry.actor.id}</dd>
          <dt>Time</dt>
          <dd className="font-mono">{entry.at}</dd>
        </dl>
        {entry.detail ? (
          <pre className="scroll-thin mt-1.5 overflow-x-auto rounded-md bg-sunken p-2 whitespace-pre-wrap break-all">
            {entry.detail}
          </pre>
        ) : null}
      </details>
    </div>
  );
}

const look = "text-accent-text underline-offset-3 hover:underline";

function AboutLink({ entry, orgSlug }: { readonly entry: ShownEntry; readonly orgSlug: string }) {
  const { project, group, subject, action } = entry;
  if (project?.name) {
    const params = { orgSlug, projectName: project.name };
    if (action.startsWith("build.") && subject)
      return (
        <Link to="/$orgSlug/$projectName/build-logs/$buildId" params={{ ...params, buildId: subject }} className={look}>
          Build of {project.name}
        </Link>
      );
    return (
      <Link to="/$orgSlug/$projectName" params={params} className={look}>
        {project.name}
      </Link>
    );
  }
  if (group === "people")
    return (
      <Link to="/$orgSlug/settings/members" params={{ orgSlug }} className={look}>
        Members
      </Link>
    );
  if (group === "keys")
    return (
      <Link to="/$orgSlug/settings/api-keys" params={{ orgSlug }} className={look}>
        API keys
      </Link>
    );
  return null;
}
