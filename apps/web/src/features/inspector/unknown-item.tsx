import { EmptyState } from "~/ui/empty-state.tsx";
import type { InspectorTab } from "./inspector-search.ts";

const nouns: Record<InspectorTab, string> = {
  tools: "tool",
  resources: "resource",
  templates: "resource template",
  prompts: "prompt",
};

/** In place of a form when the address names an item that isn't there: another one must not take its place. */
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
