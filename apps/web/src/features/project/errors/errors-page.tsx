import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ErrorPage, ErrorState } from "@towpath/core/operations/error-group/schema";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { NotLoaded } from "~/ui/callout.tsx";
import { Card } from "~/ui/card.tsx";
import { Input } from "~/ui/field.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { enterList } from "~/ui/list-keys.ts";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Segmented } from "~/ui/segmented.tsx";
import { Select } from "~/ui/select.tsx";
import { ErrorActions } from "./error-actions.tsx";
import type { ErrorSearch } from "./error-search.ts";
import { errorStates } from "./error-search.ts";
import { NoErrors } from "./error-states.tsx";
import { ErrorTable } from "./error-table.tsx";
import { errorsQuery, pageSize } from "./errors.functions.ts";
import { useChangeErrors } from "./use-change-errors.ts";
import { useListKeys } from "./use-list-keys.ts";

type ErrorsPageProps = {
  readonly projectKey: ProjectKey;
  readonly search: ErrorSearch;
  readonly onSearch: (change: Partial<ErrorSearch>) => void;
};

/** Failed calls by cause (CAP-6). */
export function ErrorsPage({ projectKey, search, onSearch }: ErrorsPageProps) {
  const { data, error, isPending, refetch } = useQuery({
    ...errorsQuery(projectKey, search),
    placeholderData: keepPreviousData,
  });
  const isFiltered = search.tool !== undefined || search.q !== undefined;
  return (
    <>
      <PageHeader title="Errors" description="Failed calls, grouped by tool, exception and the line that raised it." />
      <Filters search={search} onSearch={onSearch} page={data} />
      {error ? <NotLoaded what="the errors" error={error} retry={refetch} className="mb-3" /> : null}
      {isPending ? (
        <Card>
          <SkeletonRows rows={6} label="Loading errors" />
        </Card>
      ) : null}
      {data?.data.length === 0 ? (
        <Card>
          <NoErrors
            projectKey={projectKey}
            state={search.state}
            isFiltered={isFiltered}
            counts={data.counts}
            onClear={() => onSearch({ tool: undefined, q: undefined })}
          />
        </Card>
      ) : null}
      {data && data.data.length > 0 ? (
        // Another list has other selected rows.
        <List
          key={JSON.stringify(search)}
          projectKey={projectKey}
          state={search.state}
          page={data}
          number={search.page ?? 1}
          onPage={(page) => onSearch({ page: page === 1 ? undefined : page })}
        />
      ) : null}
    </>
  );
}

const stateLabels = { open: "Open", resolved: "Resolved", ignored: "Ignored" } as const;
const sortLabels = { lastSeen: "Last seen", firstSeen: "Newest", count: "Most frequent" } as const;
const sorts = Object.entries(sortLabels).map(([value, label]) => ({ value: value as ErrorSearch["sort"], label }));
const allTools = "";
const typingMs = 250;

type FiltersProps = Pick<ErrorsPageProps, "search" | "onSearch"> & { readonly page: ErrorPage | undefined };

function Filters({ search, onSearch, page }: FiltersProps) {
  const text = search.q ?? "";
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => onSearch({ q: typed || undefined, page: undefined }), typingMs);
    return () => clearTimeout(timer);
  }, [typed, text, onSearch]);
  const counted = (state: ErrorState) => (
    <span>
      {stateLabels[state]}
      {page ? <span className="tabular ml-1.5 text-xs text-faint">{formatCount(page.counts[state])}</span> : null}
    </span>
  );
  const tools = [...new Set([...(page?.tools ?? []), ...(search.tool === undefined ? [] : [search.tool])])];
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <Segmented
        label="State"
        value={search.state}
        onChange={(state) => onSearch({ state, page: undefined })}
        options={errorStates.map((value) => ({ value, label: counted(value) }))}
      />
      <div className="w-full sm:w-64">
        <Input
          type="search"
          aria-label="Filter errors"
          placeholder="Filter by text"
          leading={<Search />}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={enterList}
        />
      </div>
      {tools.length > 1 || search.tool !== undefined ? (
        <Select
          aria-label="Tool"
          className="w-44 max-sm:flex-1"
          value={search.tool ?? allTools}
          onChange={(tool) => onSearch({ tool: tool || undefined, page: undefined })}
          options={[{ value: allTools, label: "All tools" }, ...tools.map((value) => ({ value, label: value }))]}
        />
      ) : null}
      <Select
        aria-label="Order"
        className="w-40 max-sm:flex-1"
        value={search.sort}
        onChange={(sort) => onSearch({ sort, page: undefined })}
        options={sorts}
      />
      <ViewsButton list="errors" />
    </search>
  );
}

type ListProps = {
  readonly projectKey: ProjectKey;
  readonly state: ErrorState;
  readonly page: ErrorPage;
  /** Of the page, from 1. */
  readonly number: number;
  readonly onPage: (page: number) => void;
};

function List({ projectKey, state, page, number, onPage }: ListProps) {
  const mayChange = useMay("project.update");
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const selected = page.data.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const { change, isPending } = useChangeErrors(projectKey, state);
  const toggle = (id: string) =>
    setChosen((before) => new Set(before.has(id) ? [...before].filter((each) => each !== id) : [...before, id]));
  const changeTo = (ids: readonly string[], next: ErrorState) => {
    if (ids.length > 0) change({ ids, state: next });
    setChosen(new Set());
  };
  useListKeys(list, {
    onToggle: (id) => mayChange && toggle(id),
    onDone: mayChange
      ? (id) =>
          changeTo(selected.length > 0 ? selected : id === null ? [] : [id], state === "open" ? "resolved" : "open")
      : null,
  });
  const pages = Math.ceil(page.total / pageSize);
  return (
    <>
      <Card ref={list}>
        <ErrorTable
          projectKey={projectKey}
          rows={page.data}
          chosen={chosen}
          onToggle={mayChange ? toggle : null}
          onAll={(all) => setChosen(new Set(all ? page.data.map(({ id }) => id) : []))}
        />
        {mayChange ? (
          <div className="sticky bottom-0 flex min-h-12 flex-wrap items-center gap-2 rounded-b-lg border-t bg-surface px-4 py-2">
            <span aria-live="polite" className="mr-auto text-xs text-muted">
              {selected.length === 0 ? "Select errors to change several at once." : `${selected.length} selected`}
            </span>
            <ErrorActions
              state={state}
              busy={isPending}
              disabled={selected.length === 0}
              onChange={(next) => changeTo(selected, next)}
              size="sm"
            />
          </div>
        ) : null}
      </Card>
      {pages > 1 ? (
        <nav aria-label="Pages" className="mt-3 flex items-center justify-center gap-3 text-sm text-muted">
          <Button size="sm" disabled={number <= 1} onClick={() => onPage(number - 1)}>
            Previous
          </Button>
          {number} of {pages}
          <Button size="sm" disabled={number >= pages} onClick={() => onPage(number + 1)}>
            Next
          </Button>
        </nav>
      ) : null}
    </>
  );
}
