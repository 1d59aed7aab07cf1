import { useSuspenseQuery } from "@tanstack/react-query";
import type { Manifest } from "@towpath/mcp/manifest";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Tabs } from "~/ui/tabs.tsx";
import { BuildWarnings } from "../build/build-problems.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { CallHistory } from "./call-history.tsx";
import { branchManifestQuery } from "./inspector.functions.ts";
import { chosenItem, itemParameter, itemsOf } from "./inspector-items.ts";
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
  search,
  onSearch,
}: {
  projectKey: ProjectKey;
  branchId: string;
  search: InspectorSearch;
  onSearch: (change: Partial<InspectorSearch>) => void;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: found } = useSuspenseQuery(branchManifestQuery(projectKey, branchId));
  const calls = useCalls(projectKey, branchId);
  const manifest = found?.manifest ?? null;
  if (!manifest) {
    const why = found?.warnings.find((warning) => warning.code === "lists_not_read");
    if (why) return <BuildWarnings warnings={[why]} />;
    return (
      <EmptyState title="This server's tools, resources and prompts can't be listed">
        The live build has no manifest that this version of Towpath can read. Redeploy it.
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
            askAuthorization={project.authMode === "passthrough"}
          />
        </div>
      ) : (
        <EmptyState title={`This server has no ${tabLabels[search.tab].toLowerCase()}`}>
          Each build reads this list from the server.
        </EmptyState>
      )}
      <CallHistory records={calls.records} onOpen={open} />
    </>
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
