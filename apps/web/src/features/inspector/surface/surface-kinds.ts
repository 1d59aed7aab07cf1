import type { InspectorSearch, InspectorTab } from "~/features/inspector/inspector/inspector-search.ts";
import type { ItemKind } from "./surface-search.ts";

type KindText = {
  readonly title: string;
  readonly noun: string;
  readonly tab: InspectorTab;
  readonly parameter: keyof InspectorSearch;
};

export const kindTexts: Readonly<Record<ItemKind, KindText>> = {
  tool: { title: "Tools", noun: "tool", tab: "tools", parameter: "tool" },
  resource: { title: "Resources", noun: "resource", tab: "resources", parameter: "resource" },
  template: { title: "Resource templates", noun: "resource template", tab: "templates", parameter: "template" },
  prompt: { title: "Prompts", noun: "prompt", tab: "prompts", parameter: "prompt" },
};

/** Opens an item there. `key`: its key in the log. */
export function inspectorSearchOf(kind: ItemKind, key: string): InspectorSearch {
  const { tab, parameter } = kindTexts[kind];
  return { tab, [parameter]: key };
}
