import { useSuspenseQuery } from "@tanstack/react-query";
import type { ProjectView } from "@towpath/core/projects/project";
import type { Manifest } from "@towpath/mcp/manifest";
import { useEffect, useRef, useState } from "react";
import type { Replay } from "~/features/project/request-log/replay.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { currentAuthQuery } from "~/features/shared/session/session.functions.ts";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Tabs } from "~/ui/tabs.tsx";
import type { CallRecord } from "./calls/call-record.ts";
import { type Calls, useCalls, useConnectionState } from "./calls/use-calls.ts";
import { preloadConnection } from "./connection/late-connection.ts";
import { Dock } from "./dock.tsx";
import {
  chosenItem,
  type InspectorItem,
  isDestructive,
  itemParameter,
  itemsOf,
  schemaOfCall,
} from "./inspector-items.ts";
import { type InspectorSearch, type InspectorTab, inspectorTabs } from "./inspector-search.ts";
import { ItemPane } from "./item/item-pane.tsx";
import { ItemList } from "./item-list.tsx";
import { preloadResult, ResultPane } from "./result/result-pane.tsx";
import type { Arguments } from "./schema-form/form-arguments.ts";
import { ServerLine } from "./server-line.tsx";
import type { SnippetPlace } from "./share/copy-call-menu.tsx";
import { argumentsIn } from "./share/share-link.ts";

// Of a server without such items, and of links to calls.
const states = () => import("./inspector-states.tsx");
const Nothing = lazyPart(async () => (await states()).Nothing);
const ReplayCallout = lazyPart(async () => (await states()).ReplayCallout);
const SharedCallout = lazyPart(async () => (await states()).SharedCallout);
const UnknownItem = lazyPart(async () => (await states()).UnknownItem);

const tabLabels: Record<InspectorTab, string> = {
  tools: "Tools",
  resources: "Resources",
  templates: "Templates",
  prompts: "Prompts",
};

export type PanesProps = {
  projectKey: ProjectKey;
  /** `mayCall`: whether the user's role may call this server. */
  project: ProjectView & { readonly mayCall: boolean };
  manifest: Manifest;
  /** Null: of a server that isn't built here. */
  branch: { readonly id: string; readonly deploymentId: string; readonly url: string } | null;
  search: InspectorSearch;
  onSearch: (change: Partial<InspectorSearch>) => void;
  /** A call of the log to fill in. */
  replay: Replay | null;
};

const pane = "flex min-h-0 min-w-0 flex-col rounded-lg border bg-surface [--ground:var(--surface)]";
const columns =
  "grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] gap-3 lg:grid-cols-[15rem_minmax(0,1fr)] lg:grid-rows-[minmax(0,1fr)_minmax(0,1fr)] " +
  "xl:grid-cols-[15rem_minmax(0,5fr)_minmax(0,6fr)] xl:grid-rows-[minmax(0,1fr)]";

/** The list, the form and the result, each with its own scrolling; below them the dock. */
export function Panes({ projectKey, project, manifest, branch, search, onSearch, replay }: PanesProps) {
  const { data: auth } = useSuspenseQuery(currentAuthQuery);
  const items = itemsOf(manifest, search.tab);
  const { item, unknown } = chosenItem(items, search);
  const itemKey = item && keyOf(item);
  const shared = useSharedArguments(itemKey);
  const [reopened, setReopened] = useState(0);
  const calls = useCalls({
    projectKey,
    branchId: branch?.id ?? null,
    deploymentId: branch?.deploymentId ?? null,
    place: { userId: auth?.user.id ?? "", projectId: project.id },
    schemaOf: (call) => schemaOfCall(manifest, call.item),
  });
  const record = itemKey === null ? null : calls.shownFor(itemKey);
  const isShared = shared !== null && shared.item === itemKey;
  const isReplayed = item !== null && replay?.tab === item.tab && replay.name === item.key;
  const given = isShared ? shared.args : isReplayed && replay ? replay.arguments : null;
  const open = ({ id, item: of }: CallRecord) => {
    calls.show(id);
    setReopened((count) => count + 1);
    const [tab = "tools", ...rest] = of.split(":");
    onSearch({ tab: tab as InspectorTab, [itemParameter[tab as InspectorTab]]: rest.join(":") });
  };
  const read = (uri: string) => {
    onSearch({ tab: "resources", resource: uri });
    calls.run(`resources:${uri}`, { kind: "resource", uri });
  };
  const snippets = useSnippetPlace(calls, { project, manifest, url: branch?.url ?? project.url });
  const name = tabLabels[search.tab].toLowerCase();
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      <ServerLine
        manifest={manifest}
        projectKey={projectKey}
        branchId={branch?.id ?? null}
        isCalling={calls.isRunning}
      />
      <Tabs
        label="What the server offers"
        value={search.tab}
        onChange={(tab) => onSearch({ tab })}
        tabs={inspectorTabs.map((tab) => ({ value: tab, label: tabLabels[tab], count: itemsOf(manifest, tab).length }))}
      />
      {replay && replay.tab === search.tab ? <ReplayCallout replay={replay} items={items} /> : null}
      {isShared ? <SharedCallout /> : null}
      {items.length === 0 && unknown === null ? (
        <Nothing name={name} isHosted={project.kind === "hosted"} />
      ) : (
        <div className={columns}>
          <div data-pane className={`${pane} lg:row-span-2 xl:row-span-1`}>
            <ItemList
              key={search.tab}
              label={name}
              items={items}
              chosen={item}
              onChoose={(next: InspectorItem) => onSearch({ [itemParameter[next.tab]]: next.key })}
            />
          </div>
          {/* biome-ignore lint/a11y/noStaticElementInteractions: only listens to the events of what it contains */}
          <div data-pane className={pane} onFocus={prepareCall} onPointerEnter={prepareCall}>
            {item ? (
              <ItemPane
                // Remount when arguments are restored: from the address, an earlier visit or a reopened call.
                key={[itemKey, isShared, calls.restored.has(itemKey ?? ""), reopened].join()}
                item={item}
                calls={calls}
                mayCall={project.mayCall}
                askAuthorization={project.authMode === "passthrough"}
                initial={reopened > 0 || given === null ? argumentsOf(record) : given}
                snippets={snippets}
              />
            ) : (
              <UnknownItem tab={search.tab} name={unknown ?? ""} />
            )}
          </div>
          <div data-pane className={`${pane} ${record === null ? "max-xl:hidden" : ""}`}>
            <ResultPane
              record={record}
              calls={calls}
              projectKey={projectKey}
              branchId={branch?.id ?? null}
              asksBefore={item !== null && isDestructive(item)}
              onRead={read}
            />
          </div>
        </div>
      )}
      <Dock calls={calls} onOpen={open} />
    </div>
  );
}

/** Loads what a call needs while the person fills in the form. */
function prepareCall(): void {
  void preloadResult();
  preloadConnection();
}

const keyOf = (item: InspectorItem) => `${item.tab}:${item.key}`;

const argumentsOf = (record: CallRecord | null): Arguments =>
  record && "arguments" in record.call ? record.call.arguments : {};

const keyVariables = { "towpath-cloud": "TOWPATH_API_KEY", passthrough: "SERVER_TOKEN", "towpath-public": null };

function useSnippetPlace(
  calls: Calls,
  { project, manifest, url }: { project: ProjectView; manifest: Manifest; url: string },
): SnippetPlace {
  const { protocolVersion } = useConnectionState(calls.connection);
  return {
    url,
    protocolVersion: protocolVersion ?? manifest.protocolVersion,
    keyVariable: keyVariables[project.authMode],
  };
}

type Shared = { readonly item: string; readonly args: Record<string, unknown> };

/**
 * Arguments that the address carries for the item it names, once the page's script runs: the server never sees them.
 *
 * @param item null: none is shown
 */
function useSharedArguments(item: string | null): Shared | null {
  const [shared, setShared] = useState<Shared | null>(null);
  const latest = useRef(item);
  latest.current = item;
  useEffect(() => {
    const read = () => {
      const args = argumentsIn(location.hash);
      if (args && latest.current !== null) setShared({ item: latest.current, args });
    };
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return shared;
}
