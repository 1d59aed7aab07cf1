import type { BuildView } from "@towpath/core/delivery/build";
import { BuildWarnings } from "~/features/project/build/build-warnings.tsx";
import type { Replay } from "~/features/project/request-log/replay.ts";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import type { InspectorItem } from "./inspector-items.ts";
import type { InspectorTab } from "./inspector-search.ts";

type NoListsProps = { readonly warnings: BuildView["warnings"]; readonly isHosted: boolean };

/** In place of the page of a server whose lists could not be read. */
export function NoLists({ warnings, isHosted }: NoListsProps) {
  const why = warnings.find((warning) => warning.code === "lists_not_read");
  if (why) return <BuildWarnings warnings={[why]} />;
  return (
    <EmptyState title="This server's tools, resources and prompts can't be listed">
      {isHosted
        ? "This version of Towpath can't read the live build's manifest. Rebuild the server."
        : "The last check couldn't read them. Check the server again in its settings."}
    </EmptyState>
  );
}

/** In place of an empty list. */
export function Nothing({ name, isHosted }: { name: string; isHosted: boolean }) {
  return (
    <EmptyState title={`This server has no ${name}`} className="flex-1">
      {isHosted ? "Each build reads this list from the server." : "Towpath reads it again every ten minutes."}
    </EmptyState>
  );
}

/** A warning before a logged call is repeated. */
export function ReplayCallout({ replay, items }: { replay: Replay; items: readonly InspectorItem[] }) {
  const what = replay.tab === "tools" ? "tool" : "prompt";
  if (!items.some(({ key }) => key === replay.name)) {
    return (
      <Callout tone="warn" title="The call can't be replayed">
        This server has no {what} {replay.name} any more.
      </Callout>
    );
  }
  return (
    <Callout tone={replay.isRedacted ? "warn" : "info"} title={`Filled in from a call of ${replay.name}`}>
      {replay.isRedacted
        ? "The log replaced secrets with names in brackets. Enter them again before you call."
        : "Nothing has been called yet. The call will run as you."}
    </Callout>
  );
}

/** Where the address has arguments. */
export function SharedCallout() {
  return (
    <Callout tone="info" title="Filled in from a link">
      Nothing has been called yet. Check the arguments: the call will run as you.
    </Callout>
  );
}

const nouns: Record<InspectorTab, string> = {
  tools: "tool",
  resources: "resource",
  templates: "resource template",
  prompts: "prompt",
};

/** Replaces the form when the address names an unknown item: no other item must replace it. */
export function UnknownItem({ tab, name }: { tab: InspectorTab; name: string }) {
  return (
    <EmptyState
      title={
        <>
          No {nouns[tab]} called <code className="break-all">{name}</code>
        </>
      }
    >
      This version of the server doesn't have it. It may be on another branch, or renamed. Choose one from the list.
    </EmptyState>
  );
}
