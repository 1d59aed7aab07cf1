import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Globe, Plus, Search, Server } from "lucide-react";
import { useEffect, useState } from "react";
import { DiskBanner, IsolationBanner } from "~/features/instance/instance-banners.tsx";
import { useMay } from "~/features/session/guards.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Input } from "~/ui/field.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { ServerTable } from "./server-table.tsx";
import { serversQuery } from "./servers.functions.ts";

type ServersSearch = {
  readonly type: "all" | "private" | "open";
  readonly text: string;
  readonly selected?: string | undefined;
};

const types = [
  { value: "all", label: "All servers" },
  { value: "private", label: "Private" },
  { value: "open", label: "Open to anyone" },
] as const;

/** Debounce of the search, in milliseconds. */
const typingMs = 250;

/** The organization's servers (ORG-2). */
export function ServersPage({
  orgSlug,
  search,
  onSearch,
}: {
  readonly orgSlug: string;
  readonly search: ServersSearch;
  readonly onSearch: (change: Partial<ServersSearch>) => void;
}) {
  const { data, error, isPending } = useQuery(serversQuery({ orgSlug, type: search.type, text: search.text }));
  const filtered = search.type !== "all" || search.text !== "";
  const nothingYet = data?.length === 0 && !filtered;
  return (
    <>
      <PageHeader
        title="Servers"
        description={nothingYet ? undefined : "All servers of this organization, with their latest builds."}
        actions={nothingYet ? null : <NewServerLinks orgSlug={orgSlug} />}
      />
      <IsolationBanner orgSlug={orgSlug} />
      <DiskBanner orgSlug={orgSlug} />
      {nothingYet ? (
        <div className="rounded-lg border bg-surface">
          <EmptyState
            icon={<Server aria-hidden />}
            title="No servers yet"
            actions={<NewServerLinks orgSlug={orgSlug} />}
          >
            Deploy the echo server to see how it works, or a repository of your own. Or add a server that runs
            elsewhere.
          </EmptyState>
        </div>
      ) : (
        <>
          <Filters search={search} onSearch={onSearch} />
          {error ? (
            <Callout tone="bad" title="The list could not be loaded" className="mb-3">
              {error.message}
            </Callout>
          ) : null}
          <div className="overflow-hidden rounded-lg border bg-surface">
            {isPending ? <SkeletonRows rows={4} label="Loading servers" /> : null}
            {data?.length === 0 ? (
              <EmptyState
                title="No matching servers"
                actions={<Button onClick={() => onSearch({ type: "all", text: "" })}>Clear the filters</Button>}
              >
                No server of this organization has that name, repository or access.
              </EmptyState>
            ) : null}
            {data && data.length > 0 ? (
              <ServerTable servers={data} orgSlug={orgSlug} selected={search.selected} />
            ) : null}
          </div>
        </>
      )}
    </>
  );
}

/** The two ways to a server: build one here, or add one that runs elsewhere. */
function NewServerLinks({ orgSlug }: { readonly orgSlug: string }) {
  const mayCreate = useMay("project.create");
  if (!mayCreate) return null;
  return (
    <>
      <Link to="/$orgSlug/servers/external" params={{ orgSlug }} className={buttonLook()}>
        <Globe aria-hidden />
        Add by URL
      </Link>
      <Link to="/$orgSlug/welcome/server-setup" params={{ orgSlug }} className={buttonLook({ variant: "primary" })}>
        <Plus aria-hidden />
        New server
      </Link>
    </>
  );
}

function Filters({
  search,
  onSearch,
}: {
  readonly search: ServersSearch;
  readonly onSearch: (change: Partial<ServersSearch>) => void;
}) {
  const [typed, setTyped] = useState(search.text);
  useEffect(() => setTyped(search.text), [search.text]);
  useEffect(() => {
    if (typed === search.text) return;
    const timer = setTimeout(() => onSearch({ text: typed }), typingMs);
    return () => clearTimeout(timer);
  }, [typed, search.text, onSearch]);
  return (
    <search className="mb-3 flex flex-wrap gap-2">
      <div className="w-full sm:w-72">
        <Input
          type="search"
          aria-label="Filter by name or repository"
          placeholder="Filter by name or repository"
          leading={<Search aria-hidden />}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <Select
        aria-label="Access"
        value={search.type}
        onChange={(type) => onSearch({ type })}
        options={types}
        className="w-44"
      />
    </search>
  );
}
