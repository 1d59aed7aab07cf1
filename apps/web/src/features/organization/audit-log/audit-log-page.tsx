import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { auditGroups } from "@towpath/core/tenancy/audit-log/schema";
import { Download, ScrollText } from "lucide-react";
import type { ReactNode } from "react";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { Button } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { ListPending } from "~/ui/list-pending.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { type AuditSearch, type AuditTime, auditActorsQuery, auditLogQuery, filterOf } from "./audit-log.functions.ts";
import { AuditTable } from "./audit-table.tsx";

type PageProps = {
  readonly orgSlug: string;
  readonly search: AuditSearch;
  readonly onSearch: (change: AuditSearch) => void;
};

/** Every change of the organization: who, what, when, from where (ORG-10). */
export function AuditLogPage({ orgSlug, search, onSearch }: PageProps) {
  const log = useSuspenseInfiniteQuery(auditLogQuery(orgSlug, search));
  const entries = log.data.pages.flatMap((page) => page.entries);
  const isFiltered = Boolean(search.actor || search.group || search.time);
  return (
    <Page actions={<Export orgSlug={orgSlug} search={search} />}>
      <Filters orgSlug={orgSlug} search={search} onSearch={onSearch} />
      <div className="overflow-hidden rounded-lg border bg-surface">
        {entries.length > 0 ? <AuditTable entries={entries} orgSlug={orgSlug} isWhole={!log.hasNextPage} /> : null}
        {entries.length === 0 && isFiltered ? (
          <EmptyState
            title="No matching entries"
            actions={
              <Button onClick={() => onSearch({ actor: undefined, group: undefined, time: undefined })}>
                Clear the filters
              </Button>
            }
          >
            Try other filters or a longer time.
          </EmptyState>
        ) : null}
        {entries.length === 0 && !isFiltered ? (
          <EmptyState
            icon={<ScrollText />}
            title="No changes yet"
            docs={["roles", "Roles and permissions"]}
            example={
              <p className="rounded-md border bg-sunken px-3 py-2 text-xs">
                <span className="font-medium">Ada Lovelace</span> changed who may call weather-one
                <span className="block text-muted">2 minutes ago, from 203.0.113.7</span>
              </p>
            }
          >
            Changes to servers, members, keys and settings appear here, such as:
          </EmptyState>
        ) : null}
      </div>
      {log.hasNextPage ? (
        <Button className="mt-3" busy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          Show older
        </Button>
      ) : null}
    </Page>
  );
}

const times: readonly { readonly value: AuditTime | "all"; readonly label: string }[] = [
  { value: "all", label: "Any time" },
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
  { value: "90d", label: "Last 90 days" },
];

const groups = [
  { value: "all" as const, label: "All changes" },
  ...(Object.keys(auditGroups) as (keyof typeof auditGroups)[]).map((group) => ({
    value: group,
    label: auditGroups[group],
  })),
];

function Filters({ orgSlug, search, onSearch }: PageProps) {
  const { data: actors } = useSuspenseQuery(auditActorsQuery(orgSlug));
  const people = [
    { value: "all", label: "Everybody" },
    ...actors.map(({ id, name, email }) => ({ value: id, label: name, detail: email ?? undefined })),
    { value: "towpath", label: "Towpath itself" },
  ];
  return (
    <search className="mb-3 flex flex-wrap gap-2 max-sm:grid max-sm:grid-cols-2">
      <Select
        aria-label="Person"
        className="sm:w-44"
        value={search.actor ?? "all"}
        options={people}
        onChange={(actor) => onSearch({ actor: actor === "all" ? undefined : actor })}
      />
      <Select
        aria-label="Kind of change"
        className="sm:w-52"
        value={search.group ?? "all"}
        options={groups}
        onChange={(group) => onSearch({ group: group === "all" ? undefined : group })}
      />
      <Select
        aria-label="Time"
        className="sm:w-36"
        value={search.time ?? "all"}
        options={times}
        onChange={(time) => onSearch({ time: time === "all" ? undefined : time })}
      />
      <ViewsButton list="audit" />
    </search>
  );
}

/** Downloads the filtered entries. */
function Export({ orgSlug, search }: Pick<PageProps, "orgSlug" | "search">) {
  const hrefOf = (format: string) =>
    `/api/organizations/${orgSlug}/audit-log?${new URLSearchParams({ format, ...filterOf(search) })}`;
  const download = (format: string) => window.location.assign(hrefOf(format));
  return (
    <Menu trigger={<Button icon={<Download />}>Export</Button>}>
      <MenuItem onClick={() => download("csv")}>CSV</MenuItem>
      <MenuItem onClick={() => download("jsonl")}>JSON Lines</MenuItem>
    </Menu>
  );
}

function Page({ actions, children }: { readonly actions?: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="max-w-5xl">
      <PageHeader
        title="Audit log"
        description="Every change: who made it, when, and from which address."
        actions={actions}
      />
      {children}
    </div>
  );
}

/** Skeleton of the page. */
export const AuditLogPending = () => (
  <Page>
    <ListPending rows={8} label="Loading the audit log" />
  </Page>
);
