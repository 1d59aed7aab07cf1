import { useSuspenseQuery } from "@tanstack/react-query";
import type { Manifest } from "@towpath/mcp/manifest";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Tabs } from "~/ui/tabs.tsx";
import { BuildWarnings } from "../build/build-problems.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import type { Replay } from "../request-log/replay.ts";
import { CallHistory } from "./call-history.tsx";
import { offersQuery } from "./inspector.functions.ts";
import { chosenItem, type InspectorItem, itemParameter, itemsOf } from "./inspector-items.ts";
import { type InspectorSearch, type InspectorTab, inspectorTabs } from "./inspector-search.ts";
import { ItemDetail } from "./item-detail.tsx";
import { ItemList } from "./item-list.tsx";
import { type CallRecord, useCalls } from "./use-calls.ts";

const tabLabels: Record<InspectorTab, string> = {
  tools: "Tools",
  resources: "Resources",
  templates: "Templates",
  prompts: "Prompts",
};

/** Lists, forms and results for one branch's live server. */
export function InspectorWorkbench({
  projectKey,
  branchId,
  deploymentId,
  search,
  onSearch,
  replay,
}: {
  projectKey: ProjectKey;
  /** Both null: of a server that isn't built here. */
  branchId: string | null;
  deploymentId: string | null;
  search: InspectorSearch;
  onSearch: (change: Partial<InspectorSearch>) => void;
  /** A call of the log to fill in. */
  replay: Replay | null;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: found } = useSuspenseQuery(offersQuery(projectKey, deploymentId));
  const calls = useCalls(projectKey, branchId);
  const { manifest } = found;
  if (!manifest) {
    const why = found.warnings.find((warning) => warning.code === "lists_not_read");
    if (why) return <BuildWarnings warnings={[why]} />;
    return (
      <EmptyState title="This server's tools, resources and prompts can't be listed">
        {project.kind === "hosted"
          ? "The live build has no manifest that this version of Towpath can read. Redeploy it."
          : "The last check has not read them. Check the server again in its settings."}
      </EmptyState>
    );
  }
  const items = itemsOf(manifest, search.tab);
  const item = chosenItem(items, search);
  const open = (record: CallRecord) => {
    calls.show(record.id);
    const [tab = "tools", ...rest] = record.item.split(":");
    onSearch({ tab: tab as InspectorTab, [itemParameter[tab as InspectorTab]]: rest.join(":") });
  };
  return (
    <>
      <ServerLine manifest={manifest} />
      <Tabs
        label="What the server offers"
        value={search.tab}
        onChange={(tab) => onSearch({ tab })}
        tabs={inspectorTabs.map((tab) => ({ value: tab, label: tabLabels[tab], note: itemsOf(manifest, tab).length }))}
        className="mb-4"
      />
      {replay && replay.tab === search.tab ? <ReplayNote replay={replay} items={items} /> : null}
      {item ? (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[17rem_minmax(0,1fr)] lg:items-start">
          <ItemList
            key={search.tab}
            label={tabLabels[search.tab].toLowerCase()}
            items={items}
            chosen={item}
            onChoose={(next) => onSearch({ [itemParameter[next.tab]]: next.key })}
          />
          <ItemDetail
            key={`${item.tab}:${item.key}`}
            item={item}
            calls={calls}
            mayCall={project.mayCall}
            askAuthorization={project.authMode === "passthrough"}
            initial={replay?.tab === item.tab && replay.name === item.key ? replay.arguments : {}}
          />
        </div>
      ) : (
        <EmptyState title={`This server has no ${tabLabels[search.tab].toLowerCase()}`}>
          {project.kind === "hosted"
            ? "Each build reads this list from the server."
            : "It is read again every ten minutes."}
        </EmptyState>
      )}
      <CallHistory records={calls.records} onOpen={open} />
    </>
  );
}

/** What to know before the call of somebody else is made again. */
function ReplayNote({ replay, items }: { replay: Replay; items: readonly InspectorItem[] }) {
  const what = replay.tab === "tools" ? "tool" : "prompt";
  if (!items.some(({ key }) => key === replay.name)) {
    return (
      <Callout tone="warn" className="mb-4" title="The call can't be replayed">
        This server has no {what} {replay.name} any more.
      </Callout>
    );
  }
  return (
    <Callout
      tone={replay.isRedacted ? "warn" : "info"}
      className="mb-4"
      title={`Filled in from a call of ${replay.name}`}
    >
      {replay.isRedacted
        ? "The log has replaced secrets by names in brackets: enter them again before you call."
        : "Nothing has been called yet. It will be called as you."}
    </Callout>
  );
}

function ServerLine({ manifest }: { manifest: Manifest }) {
  return (
    <div className="mb-3 text-sm text-muted">
      <span className="font-medium text-ink">{manifest.server.title ?? manifest.server.name}</span>{" "}
      {manifest.server.version}, MCP <code>{manifest.protocolVersion}</code>
      {manifest.instructions && (
        <details className="mt-1">
          <summary className="w-fit rounded-sm hover:text-ink">Instructions for the model</summary>
          <p className="mt-1 max-w-prose break-words whitespace-pre-line">{manifest.instructions}</p>
        </details>
      )}
    </div>
  );
}
