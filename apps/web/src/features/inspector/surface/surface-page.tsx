import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import { PackageOpen, Search, SquareTerminal } from "lucide-react";
import { useState } from "react";
import { RangeSelect } from "~/features/project/analytics/activity-panel.tsx";
import { ChangeList } from "~/features/project/build/surface-changes.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { Badge } from "~/ui/badge.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { classNames } from "~/ui/class-names.ts";
import { actionsColumn, type Column, DataTable, leadColumn, numberColumn } from "~/ui/data-table.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { callColumns } from "~/ui/error-count.tsx";
import { Input } from "~/ui/field.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { rowLinkLook } from "~/ui/table.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { useOrderInAddress } from "~/ui/use-sorted.ts";
import { type Item, type Surface, surfaceQuery } from "./surface.functions.ts";
import { inspectorSearchOf, kindTexts } from "./surface-kinds.ts";
import { type ItemKind, itemKinds, type SurfaceSearch } from "./surface-search.ts";

type SurfacePageProps = {
  projectKey: ProjectKey;
  search: SurfaceSearch;
  onSearch: (change: Partial<SurfaceSearch>) => void;
};

/** What a server offers: tools, resources, templates and prompts, with their usage and cost (PRJ-7, CAP-7). */
export function SurfacePage({ projectKey, search, onSearch }: SurfacePageProps) {
  const { timeRange, kind, against } = search;
  const { data: surface } = useSuspenseQuery(surfaceQuery(projectKey, timeRange, against));
  const [text, setText] = useState("");
  const sought = text.trim().toLowerCase();
  const items = surface.items.filter(
    (item) =>
      (kind === undefined || item.kind === kind) &&
      [item.name, item.key, item.title, item.description].some((each) => each?.toLowerCase().includes(sought)),
  );
  return (
    <>
      <PageHeader
        title="Surface"
        description="What the server offers to clients, and how it is used."
        actions={<RangeSelect value={timeRange} onChange={(next) => onSearch({ timeRange: next })} />}
      />
      {surface.isBuilt ? (
        <>
          <search className="mb-3 flex flex-wrap gap-2">
            <div className="w-full sm:w-60 xl:w-72">
              <Input
                type="search"
                aria-label="Filter by name or description"
                placeholder="Filter by name or description"
                leading={<Search />}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            </div>
            <KindSelect items={surface.items} kind={kind} onKind={(next) => onSearch({ kind: next })} />
            <CompareSelect
              deployments={surface.deployments}
              against={against}
              onAgainst={(next) => onSearch({ against: next })}
            />
            <ViewsButton list="surface" />
          </search>
          <Summary surface={surface} projectKey={projectKey} />
          {against === undefined ? null : <Changes changes={surface.changes} />}
          <Card>
            {items.length > 0 ? (
              <ItemTable items={items} projectKey={projectKey} search={search} />
            ) : (
              <NoItems kind={kind} isFiltered={sought !== ""} />
            )}
          </Card>
        </>
      ) : (
        <NothingBuilt projectKey={projectKey} />
      )}
    </>
  );
}

type KindSelectProps = {
  items: readonly Item[];
  kind: ItemKind | undefined;
  onKind: (kind: ItemKind | undefined) => void;
};

function KindSelect({ items, kind, onKind }: KindSelectProps) {
  const count = (of: ItemKind) => formatCount(items.filter((item) => item.kind === of).length);
  return (
    <Select
      aria-label="Kind"
      className="w-40 xl:w-48"
      value={kind ?? "all"}
      onChange={(next) => onKind(next === "all" ? undefined : next)}
      options={[
        { value: "all", label: "All kinds", detail: formatCount(items.length) },
        ...itemKinds.map((value) => ({ value, label: kindTexts[value].title, detail: count(value) })),
      ]}
    />
  );
}

type CompareSelectProps = {
  deployments: Surface["deployments"];
  against: string | undefined;
  onAgainst: (buildId: string | undefined) => void;
};

function CompareSelect({ deployments, against, onAgainst }: CompareSelectProps) {
  if (deployments.length < 2 && against === undefined) return null;
  return (
    <Select
      aria-label="Compare with"
      className="w-52 xl:w-60"
      value={against ?? "none"}
      onChange={(next) => onAgainst(next === "none" ? undefined : next)}
      options={[
        { value: "none", label: "Compare with…" },
        ...deployments.map((each) => ({
          value: each.buildId,
          label: `${versionText(each)} ${each.commitMessage?.split("\n", 1)[0] ?? ""}`,
          detail: each.branch,
        })),
      ]}
    />
  );
}

/** What its tools cost a model, and who may call them. */
function Summary({ surface: { toolListTokens, access }, projectKey }: { surface: Surface; projectKey: ProjectKey }) {
  return (
    <p className="mb-3 text-sm text-pretty text-muted">
      The list of tools takes about {toolListTokens.toLocaleString("en")} tokens of a model's context, counted as one
      for every four characters.{" "}
      {access ? (
        <>
          {callersOf(access)}{" "}
          <Link
            to="/$orgSlug/$projectName/access"
            params={projectKey}
            className="text-accent-text underline underline-offset-2"
          >
            Who may call
          </Link>
        </>
      ) : null}
    </p>
  );
}

function callersOf({ authMode, roles, apiKeys }: NonNullable<Surface["access"]>): string {
  if (authMode === "towpath-public") return "Anyone with the URL may call it.";
  if (authMode !== "towpath-cloud") return "Callers sign in at the server itself.";
  const keys = apiKeys === "all" ? "all API keys" : apiKeys.length === 1 ? "one API key" : `${apiKeys.length} API keys`;
  const callers = [...roles.map((role) => `${role}s`), ...(apiKeys.length > 0 ? [keys] : [])];
  return `Callers: ${new Intl.ListFormat("en").format(callers)}.`;
}

function Changes({ changes }: { changes: Surface["changes"] }) {
  return (
    <Card className="mb-3" aria-label="Changes">
      <CardHeader
        title={changes?.length === 0 ? "Nothing changed for callers" : "What changed for callers"}
        description="From the chosen deployment to the live version."
      />
      {changes === null ? (
        <CardBody>This deployment's tools can't be read. Choose another one.</CardBody>
      ) : changes.length > 0 ? (
        <CardBody>
          <ChangeList changes={changes} />
        </CardBody>
      ) : null}
    </Card>
  );
}

type ItemTableProps = { items: readonly Item[]; projectKey: ProjectKey; search: SurfaceSearch };
type Row = Item & Item["usage"];

/** Names of two words take two lines where the names of tools need the room. */
const inTwoLines = (column: Column<Row>): Column<Row> => ({
  ...column,
  headClassName: "text-right leading-tight whitespace-normal xl:whitespace-nowrap",
});

const numbers: readonly Column<Row>[] = [
  ...callColumns<Row>(),
  inTwoLines(numberColumn("Argument errors", (row) => row.argumentErrors, formatCount)),
  inTwoLines(numberColumn("95th percentile", (row) => row.p95Ms, formatDuration, "whitespace-nowrap")),
  numberColumn("Tokens", (row) => row.tokens, formatCount),
];

const KindBadge = ({ kind }: { kind: ItemKind }) => <Badge>{kindTexts[kind].noun}</Badge>;

function ItemTable({ items, projectKey, search: { timeRange } }: ItemTableProps) {
  const columns: readonly Column<Row>[] = [
    leadColumn<Row>("Name", (row) => row.name, {
      headClassName: "w-1/2",
      className: "max-w-0 max-sm:max-w-none",
      cell: (row) => (
        <>
          <span className="flex min-w-0 flex-wrap items-center gap-x-2">
            <Link
              to="/$orgSlug/$projectName/surface/$itemKind/$itemName"
              params={{ ...projectKey, itemKind: row.kind, itemName: row.name }}
              search={{ timeRange }}
              data-row
              className={classNames(rowLinkLook, "font-mono text-xs wrap-anywhere whitespace-normal")}
            >
              {row.name}
            </Link>
            <span className="hidden shrink-0 sm:max-xl:inline">
              <KindBadge kind={row.kind} />
            </span>
            {row.isAllowed === false ? <Badge tone="warn">Not allowed</Badge> : null}
          </span>
          <span className="line-clamp-2 text-xs wrap-anywhere text-muted">
            {row.description ?? row.title ?? row.key}
          </span>
        </>
      ),
    }),
    {
      name: "Kind",
      by: (row) => kindTexts[row.kind].noun,
      cell: (row) => <KindBadge kind={row.kind} />,
      // Beside the name.
      headClassName: "sm:max-xl:hidden",
      className: "sm:max-xl:hidden",
    },
    ...numbers,
    actionsColumn(({ kind, key, name }) => (
      <Link
        to="/$orgSlug/$projectName/inspector"
        params={projectKey}
        search={inspectorSearchOf(kind, key)}
        aria-label={`Open ${name} in the inspector`}
        title="Open in the inspector"
        className={buttonLook({ variant: "ghost", size: "sm", className: "relative z-10 size-7 px-0" })}
      >
        <SquareTerminal />
      </Link>
    )),
  ];
  return (
    <DataTable
      label="Surface"
      rows={items.map((item) => ({ ...item, ...item.usage }))}
      keyOf={({ kind, key }) => `${kind} ${key}`}
      columns={columns}
      kept={useOrderInAddress()}
      rowClassName="relative"
    />
  );
}

function NoItems({ kind, isFiltered }: { kind: ItemKind | undefined; isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="Nothing matches">Change the text or the kind.</EmptyState>;
  const what = kind === undefined ? "nothing yet" : `no ${kindTexts[kind].title.toLowerCase()}`;
  return (
    <EmptyState
      icon={<PackageOpen />}
      title={`This server has ${what}`}
      example={{ code: examples[kind ?? "tool"], label: "example" }}
      docs={["deploy", "Deploy a server"]}
    >
      The list is read from the server itself. In FastMCP, a function becomes a {kindTexts[kind ?? "tool"].noun} like
      this:
    </EmptyState>
  );
}

const examples = {
  tool: `@mcp.tool
def forecast(city: str) -> str:
    """Say how the weather will be."""
    return f"Sunny in {city}."`,
  resource: `@mcp.resource("notes://all")
def notes() -> str:
    return "Buy milk"`,
  template: `@mcp.resource("notes://{id}")
def note(id: str) -> str:
    return f"Note {id}"`,
  prompt: `@mcp.prompt
def summarize(text: str) -> str:
    return f"Summarize in one sentence: {text}"`,
} as const;

function NothingBuilt({ projectKey }: { projectKey: ProjectKey }) {
  return (
    <EmptyState
      icon={<PackageOpen />}
      title="No build has succeeded yet"
      actions={
        <Link to="/$orgSlug/$projectName/deployments" params={projectKey} className={buttonLook()}>
          Go to deployments
        </Link>
      }
    >
      As soon as one has, the server's tools, resources and prompts appear here.
    </EmptyState>
  );
}
