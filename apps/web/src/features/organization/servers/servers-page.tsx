import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ProjectListItem } from "@towpath/core/projects/project";
import { Globe, Package, Plus, Search } from "lucide-react";
import { useEffect, useState } from "react";
import { DiskBanner, IsolationBanner } from "~/features/organization/instance/instance-banners.tsx";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { NoServersDrawing, NothingFoundDrawing } from "~/ui/drawings.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Input } from "~/ui/field.tsx";
import { enterList } from "~/ui/list-keys.ts";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { ServerTable } from "./server-table.tsx";
import { serversActivityQuery, serversQuery, serversShown } from "./servers.functions.ts";

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

type ServersPageProps = {
  readonly orgSlug: string;
  readonly search: ServersSearch;
  readonly onSearch: (change: Partial<ServersSearch>) => void;
};

/** The organization's servers (ORG-2). */
export function ServersPage({ orgSlug, search, onSearch }: ServersPageProps) {
  const { data, error, isPending } = useQuery(serversQuery({ orgSlug, type: search.type, text: search.text }));
  const filtered = search.type !== "all" || search.text !== "";
  const nothingYet = data?.length === 0 && !filtered;
  return (
    <>
      <PageHeader
        title="Servers"
        description={nothingYet ? undefined : "Your servers and their calls in the last 24 hours."}
        actions={nothingYet ? null : <NewServerLinks orgSlug={orgSlug} />}
      />
      <IsolationBanner orgSlug={orgSlug} />
      <DiskBanner orgSlug={orgSlug} />
      {nothingYet ? (
        <div className="rounded-lg border bg-surface">
          <EmptyState
            drawing={<NoServersDrawing />}
            title="No servers yet"
            actions={<NewServerLinks orgSlug={orgSlug} />}
            example={{ code: firstServer, label: "example" }}
            docs={["deploy", "Deploy a server"]}
          >
            Paste a repository's URL, try the echo server, or add a server that runs elsewhere. A whole server is one
            file, such as:
          </EmptyState>
        </div>
      ) : (
        <>
          <Filters search={search} onSearch={onSearch} />
          {error ? (
            <Callout tone="bad" title="Couldn't load the list" className="mb-3">
              {error.message}
            </Callout>
          ) : null}
          <div className="overflow-hidden rounded-lg border bg-surface">
            {isPending ? <SkeletonRows rows={4} label="Loading servers" /> : null}
            {data?.length === 0 ? (
              <EmptyState
                drawing={<NothingFoundDrawing />}
                title="No matching servers"
                actions={<Button onClick={() => onSearch({ type: "all", text: "" })}>Clear the filters</Button>}
              >
                No server has that name, repository or access.
              </EmptyState>
            ) : null}
            {data && data.length > 0 ? <Servers servers={data} orgSlug={orgSlug} selected={search.selected} /> : null}
          </div>
        </>
      )}
    </>
  );
}

const firstServer = `from fastmcp import FastMCP

mcp = FastMCP("Weather")


@mcp.tool
def forecast(city: str) -> str:
    """Say how the weather will be."""
    return f"Sunny in {city}."`;

type ServersProps = {
  readonly servers: readonly ProjectListItem[];
  readonly orgSlug: string;
  readonly selected: string | undefined;
};

/** The first sixty, and more on demand: an organization may have hundreds. */
function Servers({ servers, orgSlug, selected }: ServersProps) {
  const [pages, setPages] = useState(1);
  // Show the page with the selected server.
  const selectedPage = Math.floor(servers.findIndex(({ name }) => name === selected) / serversShown) + 1;
  const shown = servers.slice(0, Math.max(pages, selectedPage) * serversShown);
  const hidden = servers.length - shown.length;
  const activity = useActivity(orgSlug, shown);
  return (
    <>
      <ServerTable servers={shown} activity={activity} orgSlug={orgSlug} isWhole={hidden === 0} selected={selected} />
      {hidden > 0 ? (
        <div className="flex justify-center border-t p-3">
          <Button onClick={() => setPages(Math.max(pages, selectedPage) + 1)}>
            Show {Math.min(hidden, serversShown)} more of {servers.length}
          </Button>
        </div>
      ) : null}
    </>
  );
}

/** By project; undefined until the first answer. */
function useActivity(orgSlug: string, servers: readonly ProjectListItem[]) {
  const ids = servers.map(({ id }) => id);
  const pages = Array.from({ length: Math.ceil(ids.length / serversShown) }, (_, at) =>
    ids.slice(at * serversShown, (at + 1) * serversShown),
  );
  return useQueries({
    queries: pages.map((page) => serversActivityQuery(orgSlug, page)),
    combine: (results) =>
      results.every(({ isPending }) => isPending)
        ? undefined
        : new Map(results.flatMap(({ data = [] }) => data.map((each) => [each.projectId, each] as const))),
  });
}

/** Links to build a server here, run a published one, or add one that runs elsewhere. */
function NewServerLinks({ orgSlug }: { readonly orgSlug: string }) {
  const mayCreate = useMay("project.create");
  if (!mayCreate) return null;
  return (
    <>
      <Link to="/$orgSlug/servers/external" params={{ orgSlug }} className={buttonLook()}>
        <Globe className="max-sm:hidden" />
        <span>
          External<span className="max-sm:sr-only"> server</span>
        </span>
      </Link>
      <Link to="/$orgSlug/servers/package" params={{ orgSlug }} className={buttonLook()}>
        <Package className="max-sm:hidden" />
        Package
      </Link>
      <Link to="/$orgSlug/servers/new" params={{ orgSlug }} className={buttonLook({ variant: "primary" })}>
        <Plus />
        New server
      </Link>
    </>
  );
}

type FiltersProps = {
  readonly search: ServersSearch;
  readonly onSearch: (change: Partial<ServersSearch>) => void;
};

function Filters({ search, onSearch }: FiltersProps) {
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
          leading={<Search />}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={enterList}
        />
      </div>
      <Select
        aria-label="Access"
        value={search.type}
        onChange={(type) => onSearch({ type })}
        options={types}
        className="w-44"
      />
      <ViewsButton list="servers" />
    </search>
  );
}
