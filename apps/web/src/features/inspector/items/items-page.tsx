import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { PackageOpen, SearchX } from "lucide-react";
import { RangeSelect } from "~/features/project/analytics/activity-panel.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { EmptyState } from "~/ui/empty-state.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Sparkline } from "~/ui/sparkline.tsx";
import { type ItemKind, kindTexts } from "./item-kinds.ts";
import { ItemUsagePanel } from "./item-usage-panel.tsx";
import { type Item, itemsQuery } from "./items.functions.ts";

type ItemLink = Pick<LinkProps, "to" | "params" | "search">;

type ItemsPageProps = {
  kind: ItemKind;
  projectKey: ProjectKey;
  /** The chosen item; undefined without items. */
  name: string | undefined;
  timeRange: TimeRange;
  onTimeRange: (timeRange: TimeRange) => void;
  linkTo: (name: string) => ItemLink;
};

/** A server's items of one kind, and the usage of the chosen one (PRJ-7). */
export function ItemsPage({ kind, projectKey, name, timeRange, onTimeRange, linkTo }: ItemsPageProps) {
  const { data: list } = useSuspenseQuery(itemsQuery(projectKey, kind, timeRange));
  const { title, nouns } = kindTexts[kind];
  const chosen = list.data.find((item) => item.name === name) ?? list.data.find((item) => item.key === name);
  return (
    <>
      <PageHeader
        title={title}
        description={`The live server's ${nouns}, and who uses them.`}
        actions={<RangeSelect value={timeRange} onChange={onTimeRange} />}
      />
      {list.data.length === 0 ? (
        <NoItems kind={kind} isBuilt={list.isBuilt} projectKey={projectKey} />
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[17rem_minmax(0,1fr)] lg:items-start">
          <ItemLinks items={list.data} chosen={chosen} label={title} linkTo={linkTo} />
          {chosen ? (
            <ItemUsagePanel key={chosen.key} kind={kind} item={chosen} projectKey={projectKey} timeRange={timeRange} />
          ) : (
            <Unknown kind={kind} name={name} />
          )}
        </div>
      )}
    </>
  );
}

type ItemLinksProps = {
  items: readonly Item[];
  chosen: Item | undefined;
  label: string;
  linkTo: (name: string) => ItemLink;
};

function ItemLinks({ items, chosen, label, linkTo }: ItemLinksProps) {
  return (
    <nav aria-label={label} className="rounded-lg border bg-surface">
      <ul className="scroll-thin max-h-56 overflow-y-auto p-1.5 lg:max-h-[calc(100dvh-16rem)]">
        {items.map((item) => (
          <li key={item.key}>
            <Link
              {...linkTo(item.name)}
              aria-current={item === chosen ? "page" : undefined}
              className={classNames(
                "flex items-center gap-2 rounded-md px-2 py-1.5 -outline-offset-2 hover:bg-hover",
                item === chosen && "bg-accent-soft hover:bg-accent-soft",
              )}
            >
              <code className="min-w-0 flex-1 truncate text-xs font-medium">{item.name}</code>
              <Sparkline values={item.usage.course} className="h-4 w-14! shrink-0" />
              <span className="tabular min-w-6 shrink-0 text-right text-xs text-muted">
                {formatCount(item.usage.calls)}
                <span className="sr-only"> calls</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function NoItems({ kind, isBuilt, projectKey }: { kind: ItemKind; isBuilt: boolean; projectKey: ProjectKey }) {
  const { nouns } = kindTexts[kind];
  if (isBuilt) {
    return (
      <EmptyState icon={<PackageOpen />} title={`This server has no ${nouns}`}>
        The list is read from the server itself.
      </EmptyState>
    );
  }
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
      As soon as one has, the server's {nouns} appear here.
    </EmptyState>
  );
}

function Unknown({ kind, name }: { kind: ItemKind; name: string | undefined }) {
  return (
    <EmptyState icon={<SearchX />} title={`No ${kindTexts[kind].noun} of this name`}>
      The latest build has no <code className="break-all">{name}</code>. It may have been renamed or removed.
    </EmptyState>
  );
}
