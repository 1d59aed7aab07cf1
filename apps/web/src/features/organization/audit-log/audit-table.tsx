import { Link } from "@tanstack/react-router";
import { type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { useOrderInAddress } from "~/ui/use-sorted.ts";
import type { ShownEntry } from "./audit-log.functions.ts";

type AuditTableProps = {
  readonly entries: readonly ShownEntry[];
  readonly orgSlug: string;
  /** Whether all entries are loaded. */
  readonly isWhole: boolean;
};

/** Entries of the audit log, newest first. */
export function AuditTable({ entries, orgSlug, isWhole }: AuditTableProps) {
  const columns: readonly Column<ShownEntry>[] = [
    timeColumn("When", ({ at }) => at, { className: "tabular align-top whitespace-nowrap text-muted" }),
    {
      name: "Who",
      by: ({ actor }) => actor.name,
      className: "align-top",
      cell: ({ actor }) => (
        <span className="block max-w-48 truncate font-medium" title={actor.email ?? actor.name}>
          {actor.name}
        </span>
      ),
    },
    leadColumn("What", ({ text }) => text, {
      cell: (entry) => <What entry={entry} orgSlug={orgSlug} />,
      className: "w-full align-top",
    }),
    {
      name: "From",
      by: ({ ipAddress }) => ipAddress,
      cell: ({ ipAddress }) => ipAddress ?? "–",
      className: "align-top font-mono text-xs whitespace-nowrap text-muted",
    },
  ];
  const keyOf = ({ id }: ShownEntry) => id;
  return (
    <DataTable
      label="Audit log"
      rows={entries}
      keyOf={keyOf}
      columns={columns}
      isWhole={isWhole}
      kept={useOrderInAddress()}
      rowClassName="align-top"
    />
  );
}

/** The entry as a sentence with a link to its subject, and its stored details. */
function What({ entry, orgSlug }: { readonly entry: ShownEntry; readonly orgSlug: string }) {
  return (
    <div className="min-w-0">
      <Sentence entry={entry} orgSlug={orgSlug} />
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

const look = "text-accent-text underline underline-offset-3";

/** The entry's sentence, in which the server's name is a link; other subjects get a link after it. */
function Sentence({ entry, orgSlug }: { readonly entry: ShownEntry; readonly orgSlug: string }) {
  const { project, subject, action, text } = entry;
  if (!project?.name) {
    return (
      <span className="break-words">
        {text} <SettingsLink entry={entry} orgSlug={orgSlug} />
      </span>
    );
  }
  const params = { orgSlug, projectName: project.name };
  const [before = "", ...after] = text.split(project.name);
  const isNamed = after.length > 0;
  return (
    <span className="break-words">
      {isNamed ? before : `${text} · `}
      {action.startsWith("build.") && subject ? (
        <Link to="/$orgSlug/$projectName/build-logs/$buildId" params={{ ...params, buildId: subject }} className={look}>
          {project.name}
        </Link>
      ) : (
        <Link to="/$orgSlug/$projectName" params={params} className={look}>
          {project.name}
        </Link>
      )}
      {isNamed ? after.join(project.name) : null}
    </span>
  );
}

function SettingsLink({ entry, orgSlug }: { readonly entry: ShownEntry; readonly orgSlug: string }) {
  if (entry.group === "people") {
    return (
      <Link to="/$orgSlug/settings/members" params={{ orgSlug }} className={look}>
        Members
      </Link>
    );
  }
  if (entry.group !== "keys") return null;
  return (
    <Link to="/$orgSlug/settings/api-keys" params={{ orgSlug }} className={look}>
      API keys
    </Link>
  );
}
